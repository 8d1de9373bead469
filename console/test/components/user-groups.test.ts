import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { managedIn, of } from '../../../server/test/support/admin-api.ts'
import { consolePages } from '../support/page.ts'
import { reportViews } from '../support/usage.ts'

const path = '/user-groups'
const search = 'Search by name, id or token'
const names = () =>
  Array.from(
    document.querySelectorAll('main tbody a[href*="/user-groups/"]'),
    ({ textContent }) => textContent,
  )

describe('user group list', () => {
  const running = consolePages({ UGS_USAGE: 'viewers' })

  before(async () => {
    const { create, admin } = running()
    for (let i = 1; i <= 12; i++) {
      await create(`customer-${i}`, {
        name: `Example customer ${i}`,
        mapping: { sales: i % 2 === 0 ? 'warehouse-eu' : 'warehouse-us' },
        properties: { plan: i % 3 === 0 ? 'gold' : 'basic' },
      })
    }
    await admin.suspendUserGroup(of(await create('0042', { name: 'Other customer' })))
  })

  it('shows the viewers of this month, if the service knows any', async (t) => {
    const { open, create, admin } = running()
    const team = await create('viewed', { name: 'Viewed customer' })
    const { count, find, reload, row, see } = await open(t, `${path}?text=customer`)
    await see('14 user groups.')
    assert.equal(count('columnheader', 'Viewers this month'), 0)
    const day = managedIn(await admin.getUserGroup(of(team)), 'getUserGroup').created_at.slice(0, 10)
    const view = { team_id: team.team_id, day }
    await reportViews(running(), [
      { ...view, viewer_id: 'u-7' },
      { ...view, viewer_id: 'u-8' },
    ])
    await reload()
    await find('columnheader', 'Viewers this month')
    await find('cell', '2', await row('Viewed customer'))
    await find('cell', '0', await row('Other customer'))
  })

  it('keeps rows and focus while a search loads', async (t) => {
    const { fill, find, hold, see } = await running().open(t, path)
    const link = await find('link', 'Example customer 12')
    const held = hold(/text=customer\+12/)
    await fill(search, 'customer 12')
    const { release } = await held
    assert.ok(names().length > 1)
    link.focus()
    release()
    await see('1 user group.')
    assert.deepEqual(names(), ['Example customer 12'])
    assert.equal(document.activeElement, link)
  })

  it('aborts a superseded search', async (t) => {
    const { fill, hold, see } = await running().open(t, path)
    const held = hold(/text=slow/)
    await fill(search, 'slow')
    const { signal } = await held
    await fill(search, 'Other')
    await see('1 user group.')
    assert.deepEqual(names(), ['Other customer'])
    assert.ok(signal?.aborted)
  })

  it('continues automatically after pages with few rows, and can be stopped', async (t) => {
    const { click, fill, hold, respond, see } = await running().open(t, path)
    // Responds as a store of a million user groups with few matches.
    respond(/text=rare/, ({ searchParams }) => {
      const cursor = Number(searchParams.get('cursor') ?? '0')
      return Response.json({
        success: 1,
        user_groups: [],
        next_cursor: cursor < 3 ? String(cursor + 1) : null,
      })
    })
    const last = hold(/text=rare.*cursor=3/)
    await fill(search, 'rare')
    const { release } = await last
    await see('Still searching.')
    await click('button', 'Stop')
    await see('None found so far. Not all user groups have been looked at yet.')
    await click('button', 'Search on')
    await see('Still searching.')
    release()
    await see('No user group matches')
  })

  it('finds by a pasted token, which stays out of addresses and out of what the browser keeps', async (t) => {
    const { open, admin, create, testing } = running()
    const group = await create('by-token', { name: 'Token customer' })
    const { content, fill, requested, see } = await open(t, path)
    await fill(search, `The page sent ${group.token} twice`)
    await see('This is its current token.')
    assert.deepEqual(names(), ['Token customer'])

    await admin.rotateTokenOfUserGroup({ ...of(group), body: {} })
    await fill(search, '')
    await see('Other customer')
    await fill(search, group.token)
    await see('This token was replaced, and stopped')
    // One character less, as while it is typed.
    await fill(search, group.token.slice(0, -1))
    await see('This is not a whole token')
    const other = await (await testing()).create('by-token', { name: 'Token customer' })
    await fill(search, other.token)
    await see('This is a token of Testing')
    await fill(search, '')
    await see('Other customer')
    const secret = group.token.slice(-12, -1)
    assert.ok(!requested.some((request) => request.includes(secret)), requested.join(' '))
    assert.ok(!content().includes(secret))
  })

  it('keeps columns and searches in the browser', async (t) => {
    const { at, click, fill, find, reload, see, user } = await running().open(t, `${path}?suspended=true`)
    t.after(() => localStorage.clear())
    await see('1 user group.')
    await click('button', 'Saved')
    await click('menuitem', 'Save this search')
    await fill('Name', 'Stopped')
    await user.keyboard('{Enter}')
    await click('button', 'Columns')
    await click('menuitemcheckbox', 'Created')
    await find('columnheader', 'Created')
    await click('button', 'Clear the filters')
    await see('Example customer 1')
    await reload()
    await find('columnheader', 'Created')
    await click('button', 'Saved')
    await click('menuitem', 'Stopped')
    await see('1 user group.')
    await at(/\?suspended=true$/)
  })

  it('finds by a part of the id too, each once, and treats digits as text', async (t) => {
    const { create, open } = running()
    await create('named', { name: 'Example customer-1' })
    const { at, fill, see } = await open(t, `${path}?text=0042`)
    await see('1 user group.')
    assert.deepEqual(names(), ['Other customer'])
    // "customer-1" and "customer-10" to "customer-12" by their ids, "Example customer-1" by its name.
    await fill(search, 'customer-1')
    await at(/text=customer-1$/)
    await see('5 user groups.')
    assert.equal(new Set(names()).size, 5)
  })

  it('shows characters that change the direction of a name by their codes', async (t) => {
    const { open, create } = running()
    await create('safe\u2066', { name: 'Example \u202Eremotsuc' })
    const { click, see } = await open(t, `${path}?text=remotsuc`)
    await see('1 user group.')
    assert.deepEqual(names(), ['Example U+202Eremotsuc'])
    await see(/^safeU\+2066$/)
    await click('link', /remotsuc$/)
    await see(/^Example \[U\+202E\]remotsuc · /, document.head)
  })

  it('filters by data source, property and state, from a link', async (t) => {
    const { click, fill, find, see } = await running().open(
      t,
      `${path}?schema=sales&data_source=warehouse-eu&property=%2Fplan&property_value=gold`,
    )
    await see('2 user groups.')
    assert.equal(((await find('textbox', 'Path')) as HTMLInputElement).value, '/plan')
    await fill('Value', '')
    await see('Give the value, too')
    await see('6 user groups.')
    await fill('Path', 'plan')
    await fill('Value', 'basic')
    await see('4 user groups.')

    await click('button', 'Clear the filters')
    await see('Example customer 1')
    await click('radio', 'Suspended')
    await see('1 user group.')
    assert.deepEqual(names(), ['Other customer'])
    await find('cell', 'Suspended No mapping')
  })

  it('helps if nothing matches', async (t) => {
    const { click, see } = await running().open(t, `${path}?text=ustomer-x`)
    await see('No user group matches')
    await click('button', 'Show all')
    await see('Other customer')
  })

  it('shows an error with the request id, and retries', async (t) => {
    const { click, fail, find, see } = await running().open(t, '/jobs')
    const repair = fail(/user-groups\?/, 500, {
      code: 'internal',
      message: 'Something failed',
      request_id: 'r-1',
    })
    await click('link', 'User groups')
    const alert = await find('alert')
    await see('Something failed', alert)
    await see('r-1', alert)
    repair()
    await click('button', 'Try again')
    await see('Other customer')
  })

  it('restores a deleted user group, and explains a conflicting id', async (t) => {
    const { open, create, admin } = running()
    const gone = await create('gone', { name: 'Gone customer' })
    const taken = await create('taken', { name: 'Taken customer' })
    for (const group of [gone, taken]) await admin.deleteUserGroup(of(group))
    await create('taken', { name: 'New customer' })
    const { click, find, see } = await open(t, `${path}/deleted`)
    await click('button', 'Restore Taken customer')
    await click('button', 'Restore')
    await see('A new user group has taken this id.')
    const link = await find('link', 'Look at it')
    assert.match(link.getAttribute('href') ?? '', /\/user-groups\?text=taken$/)
    await click('button', 'Cancel')
    await click('button', 'Restore Gone customer')
    const dialog = await find('dialog', /Gone customer/)
    assert.doesNotMatch(dialog.textContent, /taken this id/)
    await click('button', 'Restore', dialog)
    await find('heading', 'Gone customer')
    assert.equal(managedIn(await admin.getUserGroup(of(gone)), 'getUserGroup').name, 'Gone customer')
  })
})
