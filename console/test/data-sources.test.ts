import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertAnswers } from '../../server/test/support/admin-api.ts'
import { focused, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'
import { register } from './support/registry.ts'

const path = '/data-sources'

describe('the page of the data sources', () => {
  const running = sharedConsole()

  it('registers the first schema, and a data source of it, by keyboard alone', async (t) => {
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

    const { data_sources: all } = assertAnswers<{ data_sources: { name: string; provided_id: string }[] }>(
      await admin.listDataSources(),
      'listDataSources',
    )
    assert.deepEqual(
      all.map(({ name, provided_id }) => [name, provided_id]),
      [['Warehouse EU', 'warehouse-eu']],
    )
  })

  describe('with some registered', () => {
    before(async () => {
      const { admin, create } = running()
      await register(admin, 'sales', ['eu', 'us', 'demo'])
      await register(admin, 'empty')
      await create('customer-1', { name: 'Example customer 1', mapping: { sales: 'eu' } })
    })

    it('tells at the field what is wrong with it', async (t) => {
      const page = await running().open(t, { path, expected: /40[09]/ })
      if (page === undefined) return
      await page.getByRole('button', { name: 'Register a data source of sales' }).click()
      const dialog = page.getByRole('dialog')
      const id = dialog.getByRole('textbox', { name: 'Provided id' })
      await dialog.getByRole('button', { name: 'Register' }).click()
      await dialog.getByText('Must have 1 to 255 characters.').first().waitFor()
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Another')
      await id.fill('demo')
      await dialog.getByRole('button', { name: 'Register' }).click()
      await dialog.getByText('Another data source has this provided id.').waitFor()
      assert.equal(await id.getAttribute('aria-invalid'), 'true')
      await page.locator('input[aria-invalid=true]:focus').waitFor()
    })

    it('removes a data source that nobody is mapped to', async (t) => {
      const page = await running().open(t, { path })
      if (page === undefined) return
      await page.getByRole('button', { name: 'Remove us' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Remove us' }).waitFor({ state: 'detached' })
    })

    it('leads to those who are mapped to one that cannot be removed', async (t) => {
      const page = await running().open(t, { path, expected: /409/ })
      if (page === undefined) return
      await page.getByRole('button', { name: 'Remove eu' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('User groups are mapped to eu').waitFor()
      await page.getByRole('link', { name: 'Show these user groups' }).click()
      await page.getByRole('link', { name: 'Example customer 1' }).waitFor()
    })

    it('removes a schema only once it has no data source', async (t) => {
      const page = await running().open(t, { path, expected: /409/ })
      if (page === undefined) return
      await page.getByRole('button', { name: 'Remove the schema sales' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('sales still has data sources').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Remove the schema empty' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('heading', { name: 'empty', exact: true }).waitFor({ state: 'detached' })
    })

    it('is good to read in both themes and at any width, its dialogs too', async (t) => {
      await assertGoodLooks(t, running(), { path }, async (page) => {
        await page.getByRole('heading', { name: 'sales' }).waitFor()
      })
      await assertGoodLooks(t, running(), { path: `${path}?schema=sales&data_source=new` }, async (page) => {
        await page.getByRole('dialog', { name: 'Register a data source of sales' }).waitFor()
      })
    })
  })
})
