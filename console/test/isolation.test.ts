import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { sharedConsole } from './support/console.ts'
import { assertRetries } from './support/errors.ts'
import { assertGoodLooks } from './support/looks.ts'
import { register } from './support/registry.ts'

const path = '/isolation'

describe('isolation report page', () => {
  const running = sharedConsole()

  it('shows an empty report', async (t) => {
    const page = await running().open(t, { path })
    await page?.getByText('Nothing was found').waitFor()
  })

  describe('with findings', () => {
    before(async () => {
      const { admin, create } = running()
      await register(admin, 'sales', ['warehouse-eu', 'demo'])
      await create('shared-1', { mapping: { sales: 'warehouse-eu' } })
      await create('shared-2', { mapping: { sales: 'warehouse-eu' } })
      await create('alone', { mapping: { sales: 'warehose-eu' } })
      await create('no-schema', { mapping: { sale: 'demo' } })
      for (let i = 0; i < 12; i++) await create(`demo-${i}`, { mapping: { sales: 'demo' } })
    })

    it('shows broken mappings before shared data sources', async (t) => {
      const page = await running().open(t, { path })
      if (page === undefined) return
      await page.getByRole('table', { name: 'Shared data sources' }).waitFor()
      const rows = await page
        .getByRole('row')
        .filter({ has: page.getByRole('cell') })
        .allInnerTexts()
      assert.deepEqual(
        rows.map((row) => /Names nothing|Shared/.exec(row)?.[0]),
        ['Names nothing', 'Names nothing', 'Shared', 'Shared'],
      )
    })

    it('shows the user groups that share a data source, with links', async (t) => {
      const page = await running().open(t, { path })
      if (page === undefined) return
      const finding = page.getByRole('row').filter({ hasText: 'warehouse-eu' }).filter({ hasText: 'Shared' })
      await finding.getByRole('link', { name: 'shared-1' }).waitFor()
      await finding.getByRole('link', { name: 'shared-2' }).click()
      await page.getByRole('heading', { name: 'shared-2', level: 1 }).waitFor()
    })

    it('links to all user groups that share one', async (t) => {
      const page = await running().open(t, { path })
      if (page === undefined) return
      await page.getByRole('link', { name: 'Find all with this entry' }).click()
      await page.getByText('12 user groups.').waitFor()
    })

    it('explains unregistered entries, suggests the intended one, and links to it', async (t) => {
      const page = await running().open(t, { path })
      if (page === undefined) return
      const finding = page.getByRole('row').filter({ hasText: 'warehose-eu' })
      await finding.getByText('Did you mean “warehouse-eu”?').waitFor()
      await finding.getByRole('link', { name: 'alone' }).waitFor()
      await page.getByRole('row').filter({ hasText: 'Did you mean “sales”?' }).waitFor()

      await finding.getByRole('link', { name: 'register the data source' }).click()
      const dialog = page.getByRole('dialog', { name: 'Register a data source of sales' })
      await dialog.getByLabel('Name').fill('Warehouse, misspelt')
      await dialog.getByRole('button', { name: 'Register' }).click()
      await page.getByRole('cell', { name: 'warehose-eu' }).waitFor()
      await page.goBack()
      await page.getByRole('heading', { name: 'Isolation report' }).waitFor()
      await finding.waitFor({ state: 'detached' })
    })

    it('is readable in both themes and at any width', async (t) => {
      await assertGoodLooks(t, running(), { path }, async (page) => {
        await page.getByRole('table', { name: 'Broken mappings' }).waitFor()
      })
    })
  })

  it('shows an error and retries', async (t) => {
    const page = await running().open(t, { path: '/user-groups', expected: /503/ })
    if (page === undefined) return
    await assertRetries(page, { route: '**/admin/v1/isolation-findings*', link: 'Isolation report' })
    await page.getByRole('table', { name: 'Broken mappings' }).waitFor()
  })
})
