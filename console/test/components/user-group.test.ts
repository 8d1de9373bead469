import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { flushSync } from 'react-dom'
import { assertSucceeded, managedIn, of } from '../../../server/test/support/admin-api.ts'
import { assertActive, assertInactive } from '../../../server/test/support/introspection.ts'
import { consolePages, type OpenedPage } from '../support/page.ts'
import { register } from '../support/registry.ts'
import { reportViews } from '../support/usage.ts'

/** Returns the JSON editor. */
async function editor({ find }: OpenedPage) {
  const { EditorView } = await import('@codemirror/view')
  return EditorView.findFromDOM(await find('textbox', 'Properties')) ?? assert.fail('no editor')
}

async function replaceProperties(page: OpenedPage, text: string): Promise<void> {
  const view = await editor(page)
  // Otherwise React renders the change at a later time of its own, maybe after the next click.
  flushSync(() => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }))
}

describe('user group page', () => {
  const running = consolePages({ UGS_USAGE: 'viewers' })
  const shown = async (team: { readonly team_id: number }) =>
    managedIn(await running().admin.getUserGroup(of(team)), 'getUserGroup')
  const tokenOf = async (team: { readonly team_id: number }) =>
    assertSucceeded<{ token: string }>(await running().admin.getUserGroupToken(of(team)), 'getUserGroupToken')
      .token

  before(async () => register(running().admin, 'sales', ['warehouse-eu', 'warehouse-us']))

  it('explains empty dashboards, applies the suggested correction, and reverts it', async (t) => {
    const { open, create } = running()
    const team = await create('slip', { name: 'Slip customer', mapping: { sales: 'warehose-eu' } })
    const { click, find, see } = await open(t, `/user-groups/${team.team_id}`)
    const reasons = await find('region', 'Why its dashboards may be empty')
    await see('Its mapping names nothing that is registered.', reasons)
    await see('No renderer has introspected it yet.', reasons)
    await see('Did you mean “warehouse-eu”?')
    await click('link', 'Edit the mapping', reasons)
    await click('button', 'Use “warehouse-eu”')
    await click('button', 'Save')
    await see('Mapping › sales: warehose-eu → warehouse-eu')
    assert.deepEqual((await shown(team)).mapping, { sales: 'warehouse-eu' })

    await click('button', 'Undo', await find('list', 'Activity'))
    const dialog = await find('dialog')
    await find('cell', 'warehose-eu', dialog)
    await click('button', 'Restore', dialog)
    await see('Did you mean “warehouse-eu”?')
    assert.deepEqual((await shown(team)).mapping, { sales: 'warehose-eu' })
  })

  it('reports that nothing is wrong', async (t) => {
    const { open, create } = running()
    const team = await create('fine', { name: 'Fine customer', mapping: { sales: 'warehouse-us' } })
    const { click, respond, see } = await open(t, '/user-groups')
    // The service updates this value once a minute.
    respond(new RegExp(`/user-groups/${team.team_id}/view$`), async (_, send) => {
      const response = await send()
      const view = (await response.json()) as object
      return Response.json({ ...view, last_introspected_at: '2026-11-21T20:15:00.000Z' }, response)
    })
    await click('link', 'Fine customer')
    await see('Nothing here keeps its dashboards empty')
    await see('A renderer last introspected it')
  })

  it('views as a customer, or says which setting is missing', async (t) => {
    const { open, create } = running()
    const team = await create('viewed as', { name: 'Shown customer' })
    const { click, find, gone, respond, see } = await open(t, `/user-groups/${team.team_id}`)
    const opened = t.mock.method(window, 'open', () => null)
    await click('button', 'More')
    await click('menuitem', 'View as this customer')
    await click('button', 'Open its dashboards')
    await see('UGS_DASHBOARD_URL', await find('dialog'))
    assert.equal(opened.mock.callCount(), 0)
    const url = 'https://dashboards.example/#session=x'
    respond(/view-as$/, () => Response.json({ success: 1, url, expires_at: '2026-11-28T10:00:00Z' }))
    await click('button', 'Open its dashboards')
    await gone('Open its dashboards')
    assert.deepEqual(opened.mock.calls[0]?.arguments, [url, '_blank', 'noopener'])
  })

  it('shows errors of the service at their fields', async (t) => {
    const { open, create } = running()
    const team = await create('fields', { name: 'Field customer', mapping: { sales: 'warehouse-eu' } })
    const page = await open(t, `/user-groups/${team.team_id}/edit`)
    const { click, fill, find, see } = page
    const described = async (name: RegExp) => {
      const id = (await find('textbox', name)).getAttribute('aria-describedby')?.split(' ').at(-1) ?? ''
      return document.getElementById(id)?.textContent ?? ''
    }
    await replaceProperties(page, '{"plan": }')
    await click('button', 'Save')
    await see(/is no JSON/i)

    await replaceProperties(page, '[1]')
    await fill('Name', '   ')
    await click('button', 'Save')
    await see(/must be an object/i)
    assert.match(await described(/^Name/), /white space|blank|must/)
    assert.match(await described(/^Properties/), /object/)
    for (const name of [/^Name/, /^Properties/])
      assert.equal((await find('textbox', name)).getAttribute('aria-invalid'), 'true')
    assert.equal((await shown(team)).properties, null)
  })

  it('prevents overwriting a concurrent change, and keeps the draft', async (t) => {
    const { open, create, admin } = running()
    const team = await create('raced', { name: 'Raced customer', properties: { plan: 'gold' } })
    const page = await open(t, `/user-groups/${team.team_id}/edit`)
    const { click, fill, find, see } = page
    await fill('Name', 'Name of the draft')
    await admin.patchUserGroup({ ...of(team), body: { properties: { plan: 'silver' } } })
    await click('button', 'Save')
    await see('It was changed while you were editing')
    await see(/^You saved this/)
    await find('row', 'Properties › plan gold silver')
    assert.equal((await shown(team)).name, 'Raced customer')

    await click('button', 'Keep my draft, on top of it')
    assert.equal(((await find('textbox', /^Name/)) as HTMLInputElement).value, 'Name of the draft')
    assert.match((await editor(page)).state.doc.toString(), /silver/)
    await click('button', 'Save')
    await find('heading', 'Name of the draft')
    const { name, properties } = await shown(team)
    assert.deepEqual({ name, properties }, { name: 'Name of the draft', properties: { plan: 'silver' } })
  })

  it('reports a suspension or a missing mapping, and resumes', async (t) => {
    const { open, create, admin } = running()
    const team = await create('still', { name: 'Still customer' })
    await admin.suspendUserGroup(of(team))
    const { click, find, gone, see } = await open(t, `/user-groups/${team.team_id}`)
    const reasons = await find('region', 'Why its dashboards may be empty')
    await see('It has no mapping.', reasons)
    await see('It is suspended.', reasons)
    await see(/^Inactive$/)

    await click('button', 'Resume', reasons)
    await click('button', 'Resume', await find('dialog'))
    await gone('It is suspended.')
    assert.equal((await shown(team)).suspended_at, null)
  })

  it('shows the token only on request, and hides it again', async (t) => {
    const { open, create } = running()
    const team = await create('secret', { name: 'Secret customer' })
    const { click, find, see } = await open(t, `/user-groups/${team.team_id}`)
    await find('button', 'Show the token')
    assert.doesNotMatch(document.documentElement.outerHTML, /ugt_/)
    await click('button', 'Show the token')
    await see(team.token)
    await find('button', 'Copy the token')
    await click('button', 'Hide the token')
    await find('button', 'Show the token')
    assert.doesNotMatch(document.documentElement.outerHTML, /ugt_/)
  })

  it('rotates the token with the chosen grace period', async (t) => {
    const { open, create, introspect } = running()
    const team = await create('rotated', { name: 'Rotated customer' })
    const { click, gone, see } = await open(t, `/user-groups/${team.team_id}`)
    await click('button', 'Rotate token')
    await see('Every embedded dashboard that was opened with the old token stops at once')
    await see('of the workspace default')
    await click('radio', /^After an hour/)
    await see('work until then')
    await click('button', 'Rotate the token')
    await see('The token is replaced')
    assertActive(await introspect(team.token))
    const next = await tokenOf(team)
    assert.notEqual(next, team.token)
    assert.doesNotMatch(document.documentElement.outerHTML, /ugt_/)

    await click('button', 'Rotate token')
    await click('button', 'Rotate the token')
    await gone('Every embedded dashboard that was opened with the old token stops at once')
    assertInactive(await introspect(next))
  })

  it('ends the sessions of a viewer, and with a new token those of all', async (t) => {
    const { open, create, introspect, service } = running()
    const team = await create('viewers', { name: 'Viewed customer' })
    const session = async (viewer: string) => {
      const options = ['--viewer', viewer, '--environment', 'Customer']
      return (await service.ugs('session', 'create', 'viewers', ...options)).stdout.trim()
    }
    const [ada, bob] = [await session('ada'), await session('bob')]
    const { click, fill, see } = await open(t, `/user-groups/${team.team_id}`)
    await click('button', 'More')
    await click('menuitem', 'End sessions')
    await fill('Viewer', 'ada')
    await click('button', 'End the sessions')
    await see('The sessions are over')
    assertInactive(await introspect(ada))
    assertActive(await introspect(bob))

    await click('button', 'Rotate token')
    await click('checkbox', /^End all viewer sessions, too/)
    await click('button', 'Rotate the token')
    await see('The token is replaced')
    for (const token of [bob, team.token]) assertInactive(await introspect(token))
  })

  it('suspends and deletes, each after explaining the consequences', async (t) => {
    const { open, create, introspect } = running()
    const team = await create('leaving', { name: 'Leaving customer' })
    const { click, find, see } = await open(t, `/user-groups/${team.team_id}`)
    await click('button', 'More')
    await click('menuitem', 'Suspend')
    await see('all its embedded dashboards stop')
    await click('button', 'Suspend')
    await see('It is suspended.')
    assertInactive(await introspect(team.token))

    await click('button', 'More')
    await click('menuitem', 'Delete')
    await see('For 30 days you can restore it')
    await click('button', 'Delete')
    await find('heading', 'User groups')
    assert.equal((await running().admin.getUserGroup(of(team))).status, 404)
  })

  it('shows changes with their authors, and restores a version', async (t) => {
    const { open, create, admin } = running()
    const team = await create('history', { name: 'First name', properties: { plan: 'gold' } })
    const long = 'x'.repeat(500)
    await admin.patchUserGroup({ ...of(team), body: { properties: { plan: 'silver', seats: 4, long } } })
    await admin.patchUserGroup({ ...of(team), body: { name: 'Second name' } })
    const { click, find, see } = await open(t, `/user-groups/${team.team_id}`)
    const entry = async (text: string) => {
      const item = (await see(text, await find('list', 'Activity'))).closest('li')
      return item ?? assert.fail(`${text} is not in the list`)
    }
    await see('First name', await entry('Name changed'))
    const ofProperties = await entry('Properties changed')
    await see('Properties › plan: gold → silver', ofProperties)
    await see('Properties › seats: nothing → 4', ofProperties)
    await see(/by test \(API token \d+\), yours/, ofProperties)
    await click('button', 'Whole values', ofProperties)
    await find('cell', long, ofProperties)
    await see(/by test/, await entry('Created'))

    await click('button', 'Restore this version, revision 1')
    await find('row', 'Name Second name First name', await find('dialog'))
    await click('button', 'Restore')
    await entry('Name and properties changed')
    const { name, properties } = await shown(team)
    assert.deepEqual({ name, properties }, { name: 'First name', properties: { plan: 'gold' } })
  })

  const activity = ({ find, gone, see }: OpenedPage) => ({
    has: async (...texts: readonly string[]) => {
      for (const text of texts) await see(text, await find('list', 'Activity'))
    },
    hasNot: async (text: string) => gone(text, await find('list', 'Activity')),
  })

  it('lists views, sessions, rotations, suspensions and edits, and filters them by kind', async (t) => {
    const { open, create, admin } = running()
    const team = await create('active', { name: 'Active customer' })
    const { team_id } = team
    const day = (await shown(team)).created_at.slice(0, 10)
    await reportViews(running(), [
      { team_id, viewer_id: 'u-7', day },
      { team_id, viewer_id: 'u-8', day },
    ])
    await admin.patchUserGroup({ ...of(team), body: { name: 'Renamed customer' } })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: { grace_period_seconds: 86_400 } })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: {} })
    await admin.endSessionsOfUserGroup({ ...of(team), body: { viewer_id: 'u-7' } })
    await admin.suspendUserGroup(of(team))

    const page = await open(t, `/user-groups/${team_id}`)
    const { click, reload, see } = page
    const { has, hasNot } = activity(page)
    await has('Viewed by 2 viewers', 'Sessions of u-7 ended', 'Still suspended', 'Name changed', 'Created')
    await has('The old token stopped at once.', 'The old token works until', 'Grace period')
    await click('radio', 'Token')
    await hasNot('Created')
    await see('2 events.')
    await reload()
    await see('2 events.')
    await click('radio', 'Views')
    await has('Viewed by 2 viewers')
    await hasNot('Token rotated')
  })

  it('says that a grace period has ended early', async (t) => {
    const { open, create, admin } = running()
    const team = await create('leaked', { name: 'Leaked customer' })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: { grace_period_seconds: 86_400 } })
    await admin.reportLeakedToken({ body: { token: team.token, rotate: true } })
    const { see } = await open(t, `/user-groups/${team.team_id}?kind=token`)
    await see('Grace period ended early')
    await see('The old token had a grace period until')
  })

  it('keeps its activity while it is deleted, and when it is restored', async (t) => {
    const { open, create, admin } = running()
    const team = await create('gone', { name: 'Gone customer' })
    await admin.deleteUserGroup(of(team))
    const page = await open(t, `/user-groups/${team.team_id}`)
    const { has } = activity(page)
    await has('Deleted', 'Created')
    await admin.restoreDeletedUserGroup(of(team))
    await page.reload()
    await has('Restored', 'Deleted')
  })

  it('asks before a draft is lost', async (t) => {
    const { open, create } = running()
    const team = await create('draft', { name: 'Draft customer' })
    const { click, fill, find } = await open(t, `/user-groups/${team.team_id}/edit`)
    await fill('Name', 'Something else')
    await click('link', 'User groups')
    await click('button', 'Cancel')
    assert.equal(((await find('textbox', /^Name/)) as HTMLInputElement).value, 'Something else')
    await click('link', 'User groups')
    await click('button', 'Leave')
    await find('heading', 'User groups')
  })

  it('reports an unknown user group, and where to look', async (t) => {
    const { click, see } = await running().open(t, '/user-groups/999999')
    await see('There is no such user group')
    await click('link', 'deleted user groups')
    await see('Deleted user groups')
  })
})
