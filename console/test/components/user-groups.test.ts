import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { managedIn, of } from '../../../server/test/support/admin-api.ts'
import { consolePages } from '../support/page.ts'

const path = '/user-groups'
const names = () =>
  Array.from(
    document.querySelectorAll('main tbody a[href*="/user-groups/"]'),
    ({ textContent }) => textContent,
  )

describe('user group list', () => {
  const running = consolePages()

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

  it('finds by a part of the id too, each once, and treats digits as text', async (t) => {
    const { create, open } = running()
    await create('named', { name: 'Example customer-1' })
    const { at, fill, see } = await open(t, `${path}?text=0042`)
    await see('1 user group.')
    assert.deepEqual(names(), ['Other customer'])
    // "customer-1" and "customer-10" to "customer-12" by their ids, "Example customer-1" by its name.
    await fill('Search by name, id or token', 'customer-1')
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
    await click('button', 'Cancel')
    await click('button', 'Restore Gone customer')
    const dialog = await find('dialog', /Gone customer/)
    assert.doesNotMatch(dialog.textContent, /taken this id/)
    await click('button', 'Restore', dialog)
    await find('heading', 'Gone customer')
    assert.equal(managedIn(await admin.getUserGroup(of(gone)), 'getUserGroup').name, 'Gone customer')
  })
})
