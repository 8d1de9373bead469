import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { consolePages } from '../support/page.ts'
import { register } from '../support/registry.ts'

const path = '/data-sources'
const search = 'Find a schema or a data source'

describe('data sources page', () => {
  const running = consolePages()

  before(async () => {
    const { admin, create } = running()
    await register(admin, 'sales', ['eu', 'us', 'demo'])
    await register(admin, 'empty')
    await create('customer-1', { name: 'Example customer 1', mapping: { sales: 'eu' } })
  })

  it('pages through any number of them, by schema and by text', async (t) => {
    const { open, admin } = running()
    const many = Array.from({ length: 120 }, (_, i) => `place-${String(i + 1).padStart(3, '0')}`)
    const { schemaId } = await register(admin, 'orders-of-places', many)
    const { click, count, fill, find, requested, see } = await open(t, path)
    const table = () => find('table', 'Data sources of orders-of-places')
    const names = async () =>
      Array.from((await table()).querySelectorAll('tbody code'), ({ textContent }) => textContent)
    await see('The first 50 data sources.')
    assert.deepEqual(await names(), many.slice(0, 50))
    await click('button', 'Load more')
    await see('120 data sources.')
    assert.equal((await table()).getAttribute('aria-rowcount'), '121')
    const next = requested.filter((request) => request.includes('cursor='))
    assert.equal(next.length, 1)
    assert.match(next[0] ?? '', new RegExp(`\\?schema_id=${schemaId}&limit=200&cursor=`))

    await fill(search, 'PLACE-11')
    await see('10 data sources found')
    assert.deepEqual(await names(), many.slice(109, 119))
    assert.equal(count('heading', 'sales'), 0)
    await fill(search, 'sales')
    await find('button', 'Remove eu')
    await fill(search, 'none of them')
    await see('Nothing matches')
    await click('button', 'Show all')
    await find('heading', 'orders-of-places')
  })

  it('continues automatically if few of many match', async (t) => {
    const { fill, find, hold, respond, see } = await running().open(t, path)
    await find('button', 'Remove eu')
    // Responds as a service with thousands of data sources.
    respond(/data-sources\?limit=200/, ({ searchParams }, send) => {
      const cursor = Number(searchParams.get('cursor') ?? '0')
      if (cursor === 13) return send(`/admin/v1/data-sources?limit=200`)
      return Response.json({ success: 1, data_sources: [], next_cursor: String(cursor + 1) })
    })
    const last = hold(/limit=200&cursor=13/)
    await fill(search, 'demo')
    const { release } = await last
    await see('Still searching.')
    release()
    await see('1 data source found')
    await find('button', 'Remove demo')
  })

  it('shows errors at the field', async (t) => {
    const { click, fill, find, see } = await running().open(t, path)
    await click('button', 'Register a data source of sales')
    const id = await find('textbox', /^Provided id/)
    await click('button', 'Register')
    await see('Must have 1 to 255 characters.')
    await fill('Name', 'Another')
    await fill('Provided id', 'demo')
    await click('button', 'Register')
    await see(/^Another data source has this provided id/)
    assert.equal(id.getAttribute('aria-invalid'), 'true')
    assert.equal(document.activeElement, id)
  })

  it('removes an unused data source', async (t) => {
    const { click, find, gone, see } = await running().open(t, path)
    await click('button', 'Remove us')
    await click('button', 'Remove', await find('dialog'))
    await gone(/^us$/)
    await see(/^demo$/)
  })

  it('links to the user groups that prevent a removal', async (t) => {
    const { click, find, see } = await running().open(t, path)
    await click('button', 'Remove eu')
    await click('button', 'Remove', await find('dialog'))
    await see('User groups are mapped to eu')
    assert.match(
      (await find('link', 'Show these user groups')).getAttribute('href') ?? '',
      /\/user-groups\?schema=sales&data_source=eu$/,
    )
  })

  it('removes a schema only without data sources', async (t) => {
    const { click, find, gone, see } = await running().open(t, path)
    await click('button', 'Remove the schema sales')
    await click('button', 'Remove', await find('dialog'))
    await see('sales still has data sources')
    await click('button', 'Cancel')
    await click('button', 'Remove the schema empty')
    await click('button', 'Remove', await find('dialog', /empty/))
    await gone(/^empty$/)
  })
})
