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

    it('pages through any number of them, by schema and by text', async (t) => {
      const { open, admin } = running()
      const many = Array.from({ length: 120 }, (_, i) => `place-${String(i + 1).padStart(3, '0')}`)
      const { schemaId } = await register(admin, 'orders-of-places', many)
      const page = await open(t, { path })
      if (page === undefined) return
      const table = page.getByRole('table', { name: 'Data sources of orders-of-places' })
      const names = () =>
        table
          .getByRole('cell', { name: /^place-\d+$/ })
          .locator('code')
          .allInnerTexts()
      const asked: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('cursor=')) asked.push(new URL(request.url()).search)
      })
      await page.getByText('The first 50 data sources.').waitFor()
      assert.deepEqual(await names(), many.slice(0, 50))
      await page.getByRole('button', { name: 'Load more' }).click()
      await page.getByText('120 data sources.').waitFor()
      assert.equal(await table.getAttribute('aria-rowcount'), '121')
      assert.equal(asked.length, 1)
      assert.ok(asked.every((search) => search.startsWith(`?schema_id=${schemaId}&limit=200&cursor=`)))

      const field = page.getByLabel('Find a schema or a data source')
      await field.fill('PLACE-11')
      await page.getByText('10 data sources found').waitFor()
      assert.deepEqual(await names(), many.slice(109, 119))
      assert.equal(await page.getByRole('heading', { name: 'sales' }).count(), 0)
      await field.fill('sales')
      await page.getByRole('button', { name: 'Remove eu' }).waitFor()
      await field.fill('none of them')
      await page.getByText('Nothing matches').waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.getByRole('heading', { name: 'orders-of-places' }).waitFor()
    })

    it('continues automatically if few of many match', async (t) => {
      const page = await running().open(t, { path })
      if (page === undefined) return
      await page.getByRole('button', { name: 'Remove eu' }).waitFor()
      let last = () => Promise.resolve()
      // Responds as a service with thousands of data sources.
      await page.route(/\/admin\/v1\/data-sources\?limit=200/, async (route) => {
        const cursor = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0')
        if (cursor < 12)
          return route.fulfill({ json: { success: 1, data_sources: [], next_cursor: String(cursor + 1) } })
        last = async () => {
          const url = route
            .request()
            .url()
            .replace(/&cursor=.*/, '')
          const { data_sources } = (await (await page.request.get(url)).json()) as { data_sources: object[] }
          await route.fulfill({ json: { success: 1, data_sources, next_cursor: null } })
        }
      })
      const waiting = page.waitForRequest(/limit=200&cursor=12/)
      await page.getByLabel('Find a schema or a data source').fill('demo')
      await waiting
      await page.getByText('Still searching.').waitFor()
      await last()
      await page.getByText('1 data source found').waitFor()
      await page.getByRole('button', { name: 'Remove demo' }).waitFor()
    })
  })
})
