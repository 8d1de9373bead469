import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertSucceeded, managedIn, of } from '../../../server/test/support/admin-api.ts'
import { assertActive, assertInactive } from '../../../server/test/support/introspection.ts'
import { consolePages } from '../support/page.ts'

describe('user group page', () => {
  const running = consolePages()
  const shown = async (team: { readonly team_id: number }) =>
    managedIn(await running().admin.getUserGroup(of(team)), 'getUserGroup')
  const tokenOf = async (team: { readonly team_id: number }) =>
    assertSucceeded<{ token: string }>(await running().admin.getUserGroupToken(of(team)), 'getUserGroupToken')
      .token

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
