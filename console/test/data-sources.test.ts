import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertSucceeded } from '../../server/test/support/admin-api.ts'
import { focused, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'
import { register } from './support/registry.ts'

const path = '/data-sources'

describe('data sources page', () => {
  const running = sharedConsole()

  it('registers the first schema and a data source with the keyboard alone', async (t) => {
    const { open, admin } = running()
    const page = await open(t, { path })
    if (page === undefined) return
    await page.getByText('No schema is registered').waitFor()
    await tabTo(page, 'Register the first schema')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Register a schema' }).waitFor()
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('Orders')
    await page.keyboard.press('Tab')
    await page.keyboard.type('orders')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Orders' }).waitFor()

    await tabTo(page, 'Register a data source of Orders')
    await page.keyboard.press('Enter')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('Warehouse EU')
    await page.keyboard.press('Tab')
    await page.keyboard.type('warehouse-eu')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'Warehouse EU', exact: true }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await focused(page), 'Register a data source of Orders')

    const { data_sources: all } = assertSucceeded<{ data_sources: { name: string; provided_id: string }[] }>(
      await admin.listDataSources(),
      'listDataSources',
    )
    assert.deepEqual(
      all.map(({ name, provided_id }) => [name, provided_id]),
      [['Warehouse EU', 'warehouse-eu']],
    )
  })

  describe('with registered data sources', () => {
    before(async () => {
      const { admin, create } = running()
      await register(admin, 'sales', ['eu', 'us', 'demo'])
      await register(admin, 'empty')
      await create('customer-1', { name: 'Example customer 1', mapping: { sales: 'eu' } })
    })

    it('is readable in both themes and at any width, including dialogs', async (t) => {
      await assertGoodLooks(
        t,
        running(),
        { path: `${path}?schema=sales&data_source=new` },
        (page) => page.getByRole('dialog', { name: 'Register a data source of sales' }).waitFor(),
        async (page) => {
          await page.getByRole('button', { name: 'Cancel' }).click()
          await page.getByRole('dialog').waitFor({ state: 'detached' })
          await page.getByRole('button', { name: 'Remove eu' }).waitFor()
        },
      )
    })
  })
})
