import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { consolePages } from '../support/page.ts'
import { register } from '../support/registry.ts'

const path = '/isolation'

describe('isolation report page', () => {
  const running = consolePages()

  it('shows an error, retries, and shows an empty report', async (t) => {
    const { click, fail, see } = await running().open(t, '/audit')
    const error = { code: 'unavailable', message: 'The store does not answer', request_id: 'r-42' }
    const repair = fail(/isolation-findings/, 503, error)
    await click('link', 'Isolation report')
    await see(error.message)
    await see(error.request_id)
    repair()
    await click('button', 'Try again')
    await see('Nothing was found')
  })

  it('shows broken mappings before shared data sources, each with its user groups', async (t) => {
    const { admin, create, open } = running()
    await register(admin, 'sales', ['warehouse-eu', 'demo'])
    await create('shared-1', { mapping: { sales: 'warehouse-eu' } })
    await create('shared-2', { mapping: { sales: 'warehouse-eu' } })
    await create('alone', { mapping: { sales: 'warehose-eu' } })
    await create('no-schema', { mapping: { sale: 'demo' } })
    for (let i = 0; i < 12; i++) await create(`demo-${i}`, { mapping: { sales: 'demo' } })
    const { find, row, see } = await open(t, path)
    await find('table', 'Shared data sources')
    const cells = [...document.querySelectorAll('tbody tr')].map(({ textContent }) => textContent)
    assert.deepEqual(
      cells.map((text) => /Names nothing|Shared/.exec(text)?.[0]),
      ['Names nothing', 'Names nothing', 'Shared', 'Shared'],
    )
    const shared = await row('warehouse-eu', 'Shared')
    await find('link', 'shared-1', shared)
    const link = await find('link', 'shared-2', shared)
    assert.match(link.getAttribute('href') ?? '', /\/user-groups\/\d+$/)
    await see('Did you mean “sales”?')
    const all = await find('link', 'Find all with this entry')
    assert.match(all.getAttribute('href') ?? '', /\/user-groups\?schema=sales&data_source=demo$/)
  })
  it('reopens an accepted finding that affects others, or on request, and filters by kind', async (t) => {
    const { admin, create, open } = running()
    await register(admin, 'orders', ['stock'])
    for (const id of ['first', 'second']) await create(id, { mapping: { orders: 'stock' } })
    const { at, click, fill, find, gone, reload, row, see } = await open(t, path)
    await click('button', /^Accept/, await row('stock', 'Shared'))
    await fill('Reason', 'One company')
    await click('button', 'Accept', await find('dialog'))
    await gone('stock', await find('main'))
    await click('radio', 'Accepted')
    await see('One company', await row('stock'))
    await at(/status=accepted/)

    const { team_id } = await create('joins', { mapping: { orders: 'stock' } })
    // A list that was read within seconds is not read again.
    await reload()
    await click('radio', 'Open')
    await see('Other user groups are affected than those that were accepted.', await row('stock'))
    await admin.deleteUserGroup({ params: { team_id } })
    await click('radio', 'All')
    await click('button', /^Reopen/, await row('stock'))
    await click('button', 'Reopen', await find('dialog'))
    await find('button', /^Accept/, await row('stock'))
    await click('combobox', 'Finding')
    await click('option', 'Names nothing')
    await gone('stock', await find('main'))
    await find('table', 'Broken mappings')
  })
})
