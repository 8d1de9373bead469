import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { Download } from 'playwright-core'
import { sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'
import { register } from './support/registry.ts'

const path = '/isolation'

describe('isolation report page', () => {
  const running = sharedConsole()

  before(async () => {
    const { admin, create } = running()
    await register(admin, 'sales', ['warehouse-eu', 'demo'])
    await create('shared-1', { mapping: { sales: 'warehouse-eu' } })
    await create('shared-2', { mapping: { sales: 'warehouse-eu' } })
    await create('alone', { mapping: { sales: 'warehose-eu' } })
    await create('no-schema', { mapping: { sale: 'demo' } })
    for (let i = 0; i < 12; i++) await create(`demo-${i}`, { mapping: { sales: 'demo' } })
  })

  it('leads to the correction of a mapping, accepts a finding with a reason, and exports', async (t) => {
    const page = await running().open(t, { path, expected: /400/ })
    if (page === undefined) return
    await page.getByRole('table', { name: 'Broken mappings' }).waitFor()
    await assertLooksGood(page)
    const finding = page.getByRole('row').filter({ hasText: 'warehose-eu' })
    await finding.getByText('Did you mean “warehouse-eu”?').waitFor()
    await finding.getByRole('link', { name: 'alone' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Did you mean “sales”?' }).waitFor()

    await finding.getByRole('link', { name: 'register the data source' }).click()
    const dialog = page.getByRole('dialog')
    await page.getByRole('dialog', { name: 'Register a data source of sales' }).waitFor()
    await dialog.getByLabel('Name').fill('Warehouse, misspelt')
    await dialog.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('cell', { name: 'warehose-eu' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Isolation report' }).waitFor()
    await finding.waitFor({ state: 'detached' })

    const shared = page.getByRole('row').filter({ hasText: 'warehouse-eu' }).filter({ hasText: 'Shared' })
    await shared.getByRole('button', { name: /^Accept/ }).click()
    const which = page.getByRole('radiogroup', { name: 'Which findings to list' })
    await dialog.getByRole('button', { name: 'Accept' }).click()
    await page.locator('textarea[aria-invalid=true]:focus').waitFor()
    await page.keyboard.type('One company')
    await dialog.getByRole('button', { name: 'Accept' }).click()
    await dialog.waitFor({ state: 'detached' })
    await shared.waitFor({ state: 'detached' })

    await which.getByText('Accepted', { exact: true }).click()
    await shared.getByText('One company').waitFor()
    assert.match(page.url(), /status=accepted/)
    await page.getByRole('button', { name: 'Export' }).click()
    const downloading: Promise<Download> = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    const rows = await readFile(await (await downloading).path(), 'utf8')
    assert.match(rows, /^\{[^\n]*"reason":"One company"[^\n]*\}\n$/)
  })
})
