import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSucceeded } from '../../server/test/support/admin-api.ts'
import { sharedConsole, tabTo } from './support/console.ts'
import { importFile, rowsWithFaults } from './support/import-files.ts'
import { assertLooksGood } from './support/looks.ts'

const path = '/import'

const choose = (page: Page, file: string) => page.getByLabel('File to import').setInputFiles(file)

async function preview(page: Page, file: string): Promise<void> {
  await choose(page, file)
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Nothing is changed yet.').waitFor()
}

/** The numbers on the page by label. */
async function counts(page: Page): Promise<Record<string, string>> {
  const [labels, values] = await Promise.all([
    page.getByRole('term').allInnerTexts(),
    page.getByRole('definition').allInnerTexts(),
  ])
  return Object.fromEntries(labels.map((label, i) => [label, values[i] ?? '']))
}

async function downloadedLines(page: Page): Promise<string[]> {
  const started = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download the refused rows' }).click()
  const download = await started
  assert.equal(download.suggestedFilename(), 'refused-rows.csv')
  return (await readFile(await download.path(), 'utf8')).split('\r\n').slice(0, -1)
}

const csv = [
  'user_group_id,name,mapping,properties',
  'csv-1,"Example, ""quoted""","{""sales"":""eu""}",',
  'csv-2,Example customer 2,,"{""plan"":""gold""}"',
  'csv-3,Example customer 3,"{""sales"":3}",',
  ',Nobody,,',
  '',
].join('\r\n')

describe('import page', () => {
  const running = sharedConsole()
  const nameOf = async (id: string) => {
    const response = await running().admin.searchUserGroups({ query: { user_group_id_prefix: id } })
    const { user_groups: found } = assertSucceeded<{ user_groups: { name: string }[] }>(
      response,
      'searchUserGroups',
    )
    return found[0]?.name
  }

  it('explains what it cannot read, previews a CSV file, and imports it', async (t) => {
    const page = await running().open(t, { path, expected: /400|ERR_/ })
    if (page === undefined) return
    await page.getByText('or drop it here').waitFor()
    await assertLooksGood(page)
    await choose(page, importFile(t, 'customers.csv', 'id,name\r\nx,y\r\n'))
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('Line 1 must name the columns').waitFor()
    await page.getByText('The preview could not be created').waitFor()

    const file = importFile(t, 'moved.csv', csv)
    await choose(page, file)
    await page.getByText('moved.csv').waitFor()
    await rm(file)
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('It may have been changed or moved').waitFor()

    let isCutOff = true
    await page.route('**/admin/v1/user-groups/import*', async (route) => {
      if (!isCutOff) return route.continue()
      const line = '{"line":1,"user_group_id":"csv-1","outcome":"created"}\n'
      return route.fulfill({ status: 200, contentType: 'application/x-ndjson', body: line })
    })
    await choose(page, importFile(t, 'customers.csv', csv))
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('The response is incomplete').waitFor()
    isCutOff = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Nothing is changed yet.').waitFor()
    await assertLooksGood(page)

    assert.deepEqual(await counts(page), {
      'Will be new': '2',
      'Will change': '0',
      'Same already': '0',
      'Will be refused': '2',
    })
    const row = (text: string) => page.getByRole('row').filter({ hasText: text })
    await row('csv-3').getByText('mapping/sales: must be a string').waitFor()
    await row('not known').getByText('user_group_id: is required').waitFor()
    assert.equal(await nameOf('csv-1'), undefined)

    await page.getByRole('button', { name: 'Import 2 user groups' }).click()
    await page.getByText('2 user groups were created or changed.').waitFor()
    assert.equal(await nameOf('csv-1'), 'Example, "quoted"')
    assert.equal(await nameOf('csv-3'), undefined)
    assert.deepEqual(
      (await downloadedLines(page))[1],
      '4,csv-3,validation_failed,mapping/sales: must be a string',
    )
    await page.getByRole('link', { name: 'Go to the user groups' }).click()
    await page.getByRole('link', { name: 'Example customer 2' }).waitFor()
  })

  it('refuses only the invalid rows of 10,000, and changes nothing the second time', async (t) => {
    const page = await running().open(t, { path })
    if (page === undefined) return
    const { text, badLines } = rowsWithFaults('bulk', 10_000)
    const file = importFile(t, 'bulk.ndjson', text)
    await preview(page, file)
    await page.getByRole('button', { name: 'Import 9,900 user groups' }).click()
    await page.getByText('9,900 user groups were created or changed.').waitFor()
    assert.deepEqual(await counts(page), { New: '9,900', Changed: '0', 'Same already': '0', Refused: '100' })
    const lines = await downloadedLines(page)
    assert.equal(lines[0], 'line,user_group_id,code,reason')
    assert.deepEqual(
      lines.slice(1).map((line) => Number(line.split(',')[0])),
      badLines,
    )
    await page.getByText('The first 50 of 100 refused rows.').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('The first 100 of 100 refused rows.').waitFor()

    await page.getByRole('button', { name: 'Import another file' }).click()
    await preview(page, file)
    await page.getByText('There is nothing to import').waitFor()
    assert.deepEqual(await counts(page), {
      'Will be new': '0',
      'Will change': '0',
      'Same already': '9,900',
      'Will be refused': '100',
    })
  })

  it('accepts a dropped file, continues with the keyboard, and asks before an import is left', async (t) => {
    const page = await running().open(t, { path })
    if (page === undefined) return
    await page.getByText('or drop it here').waitFor()
    await page.evaluate(`((data) => {
      data.items.add(new File(['{"user_group_id":"dropped","name":"Dropped customer"}'], 'dropped'))
      const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
      document.querySelector('[data-over]').dispatchEvent(drop)
    })(new DataTransfer())`)
    await page.getByRole('radio', { name: 'NDJSON', checked: true }).waitFor({ state: 'attached' })
    await tabTo(page, 'Preview')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing is changed yet.').waitFor()
    await tabTo(page, 'Import 1 user group')
    await page.keyboard.press('Enter')
    await page.getByText('1 user group was created or changed.').waitFor()

    await page.getByRole('button', { name: 'Import another file' }).click()
    await preview(page, importFile(t, 'left.csv', csv.replaceAll('csv-', 'left-')))
    await page.route('**/admin/v1/user-groups/import*', () => undefined)
    await page.getByRole('button', { name: 'Import 2 user groups' }).click()
    await page.getByRole('heading', { name: 'Importing' }).waitFor()
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Data sources' })
    await link.click()
    await page.getByRole('dialog', { name: 'Stop the import?' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Importing' }).waitFor()
    await link.click()
    await page.getByRole('button', { name: 'Stop and leave' }).click()
    await page.getByRole('heading', { name: 'Data sources', level: 1 }).waitFor()
  })
})
