import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { Download } from 'playwright-core'
import { sharedConsole } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'
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

  it('accepts a finding with a reason, filters, exports, and reopens it', async (t) => {
    const page = await running().open(t, { path, expected: /400/ })
    if (page === undefined) return
    const finding = page.getByRole('row').filter({ hasText: 'warehouse-eu' }).filter({ hasText: 'Shared' })
    await finding.getByRole('button', { name: /^Accept/ }).click()
    const which = page.getByRole('radiogroup', { name: 'Which findings to list' })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Accept' }).click()
    await page.locator('textarea[aria-invalid=true]:focus').waitFor()
    await page.keyboard.type('One company')
    await dialog.getByRole('button', { name: 'Accept' }).click()
    await dialog.waitFor({ state: 'detached' })
    await finding.waitFor({ state: 'detached' })

    await which.getByText('Accepted', { exact: true }).click()
    await finding.getByText('One company').waitFor()
    assert.match(page.url(), /status=accepted/)
    await page.getByRole('button', { name: 'Export' }).click()
    const downloading: Promise<Download> = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    const rows = await readFile(await (await downloading).path(), 'utf8')
    assert.match(rows, /^\{[^\n]*"reason":"One company"[^\n]*\}\n$/)

    const { team_id } = await running().create('joins', { mapping: { sales: 'warehouse-eu' } })
    // A list that was read within seconds is not read again.
    await page.reload()
    await which.getByText('Open', { exact: true }).click()
    await finding.getByText('Other user groups are affected than those that were accepted.').waitFor()
    await running().admin.deleteUserGroup({ params: { team_id } })
    await which.getByText('All', { exact: true }).click()
    await finding.getByRole('button', { name: /^Reopen/ }).click()
    await dialog.getByRole('button', { name: 'Reopen' }).click()
    await finding.getByRole('button', { name: /^Accept/ }).waitFor()
    await page.getByRole('combobox', { name: 'Finding' }).click()
    await page.getByRole('option', { name: 'Names nothing' }).click()
    await page.getByRole('table', { name: 'Shared data sources' }).waitFor({ state: 'detached' })
    await page.getByRole('table', { name: 'Broken mappings' }).waitFor()
  })

  it('is readable in both themes and at any width', async (t) => {
    await assertGoodLooks(t, running(), { path }, async (page) => {
      await page.getByRole('table', { name: 'Broken mappings' }).waitFor()
    })
  })
})
