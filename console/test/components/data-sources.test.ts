import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { consolePages } from '../support/page.ts'
import { register } from '../support/registry.ts'

const path = '/data-sources'

describe('data sources page', () => {
  const running = consolePages()

  before(async () => {
    const { admin, create } = running()
    await register(admin, 'sales', ['eu', 'us', 'demo'])
    await register(admin, 'empty')
    await create('customer-1', { name: 'Example customer 1', mapping: { sales: 'eu' } })
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
