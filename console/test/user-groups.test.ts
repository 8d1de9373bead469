import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { Download, Page } from 'playwright-core'
import { of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

const names = (page: Page) =>
  page.getByRole('table', { name: 'User groups', exact: true }).getByRole('link').allInnerTexts()

describe('user group list', () => {
  const running = sharedConsole()

  before(async () => {
    const { create, admin } = running()
    for (let i = 1; i <= 60; i++) {
      await create(`customer-${i}`, {
        name: `Example customer ${i}`,
        mapping: { sales: i % 2 === 0 ? 'warehouse-eu' : 'warehouse-us' },
        properties: { plan: i % 3 === 0 ? 'gold' : 'basic' },
      })
    }
    const other = await create('0042', { name: 'Other customer' })
    await admin.suspendUserGroup(of(other))
  })

  it('sorts, exports, filters and searches, and keeps the search in the address', async (t) => {
    const { open, create, admin, adminToken } = running()
    await admin.deleteUserGroup(of(await create('gone', { name: 'Gone customer' })))
    // In a separate profile, whose columns the test changes.
    const page = await open(t, { apiToken: adminToken })
    if (page === undefined) return
    await page.getByText('The first 50 user groups.').waitFor()
    for (const [item, file, first] of [
      ['CSV', 'user-groups.csv', /^user_group_id,name,mapping,properties\r?\n0042,Other customer,/],
      ['NDJSON', 'user-groups.ndjson', /^\{"user_group_id":"0042",/],
    ] as const) {
      await page.getByRole('button', { name: 'Export' }).click()
      const downloading: Promise<Download> = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: item }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), file)
      assert.match(await readFile(await download.path(), 'utf8'), first)
    }
    await page.getByText('61 user groups', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Name' }).click()
    await page.locator('[aria-sort=ascending]').waitFor()
    await page.getByRole('link', { name: 'Example customer 10', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Name' }).click()
    await page.locator('[aria-sort=descending]').waitFor()
    await page.getByRole('link', { name: 'Other customer' }).waitFor()
    assert.match(page.url(), /\?sort=name&order=desc$/)
    assert.deepEqual((await names(page)).slice(0, 2), ['Other customer', 'Example customer 9'])
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByText('61 user groups.').waitFor()
    assert.equal(new Set(await names(page)).size, 61)

    await page.getByLabel('Search by name, id or token').pressSequentially('CUSTOMER 12')
    await page.getByText('1 user group.').waitFor()
    assert.deepEqual(await names(page), ['Example customer 12'])
    assert.match(page.url(), /\/console\/user-groups\?text=CUSTOMER\+12&sort=name&order=desc$/)

    await page.getByRole('link', { name: 'Example customer 12' }).click()
    await page.getByRole('heading', { name: 'Example customer 12', level: 1 }).waitFor()
    await page.goBack()
    await page.getByText('1 user group.').waitFor()
    assert.equal(await page.getByLabel('Search by name, id or token').inputValue(), 'CUSTOMER 12')

    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Path').waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Created' }).click()
    await page.getByRole('columnheader', { name: 'Created' }).waitFor()
    await assertLooksGood(page)
    await page.getByLabel('Search by name, id or token').fill((await create('by-token')).token)
    await page.getByText('This is its current token.').waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Deleted' }).click()
    await page.getByRole('button', { name: 'Restore Gone customer' }).click()
    await page.getByRole('dialog').waitFor()
    await assertAccessible(page)
  })

  it('does not navigate back after a link was followed during a search', async (t) => {
    const { open, adminToken } = running()
    // In a separate profile, which has not loaded the other page yet.
    const page = await open(t, { apiToken: adminToken })
    if (page === undefined) return
    await page.clock.install()
    await page.reload()
    await page.getByText('The first 50 user groups.').waitFor()
    const asked = new Promise<() => Promise<void>>((resolve) => {
      void page.route('**/console/assets/layout-*.js', (route) => resolve(() => route.continue()))
    })
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByLabel('Search by name, id or token').fill('customer 12')
    await page.getByRole('link', { name: 'Example customer 12' }).click()
    const response = await asked
    await page.clock.runFor(1000)
    await response()
    await page.clock.resume()
    await page.getByRole('heading', { name: 'Example customer 12', level: 1 }).waitFor()
    assert.match(page.url(), /\/console\/user-groups\/\d+$/)
    await page.locator('h1:focus').waitFor()
  })

  it('suspends, exports and deletes the selected ones in jobs', async (t) => {
    const { open, create, admin } = running()
    const groups = await Promise.all(['bulk-1', 'bulk-2', 'bulk-3'].map((id) => create(id, { name: id })))
    const page = await open(t, { path: '/user-groups?text=bulk-', expected: /status of 404/ })
    if (page === undefined) return
    await page.getByText('3 user groups.').waitFor()
    await page.getByLabel('Select all shown').check()
    await page.getByLabel('Select bulk-2').uncheck()
    await page.getByText('2 user groups selected').waitFor()
    await assertLooksGood(page)
    await page.getByRole('button', { name: 'Export selected' }).click()
    const downloading: Promise<Download> = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    const rows = await readFile(await (await downloading).path(), 'utf8')
    assert.deepEqual(rows.match(/bulk-\d(?=","name")/g), ['bulk-1', 'bulk-3'])

    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Suspend', exact: true }).click()
    await dialog.getByText('Customer', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await dialog.getByRole('heading', { name: 'Suspend 2 user groups' }).waitFor()
    await dialog.getByText('Finished').waitFor()
    await assertLooksGood(page)
    // The dialog of the job survives a reload.
    await page.reload()
    await dialog.getByText('Finished').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.doesNotMatch(page.url(), /job=/)
    assert.equal(await page.getByRole('cell', { name: 'Suspended' }).count(), 2)

    // One of them is gone meanwhile.
    await page.getByLabel('Select all shown').check()
    await admin.deleteUserGroup(of(groups[0] as { team_id: number }))
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const remove = dialog.getByRole('button', { name: 'Delete' })
    assert.ok(await remove.isDisabled())
    await dialog.getByLabel('Type “3” to confirm').fill('3')
    await remove.click()
    await dialog.getByText('Finished').waitFor()
    await dialog.getByRole('link', { name: 'All results' }).click()
    await page.getByRole('heading', { name: 'Delete 3 user groups', level: 1 }).waitFor()
    await page.getByRole('row').filter({ hasText: 'bulk-2' }).getByText('Done').waitFor()
    await assertLooksGood(page)
    await page.getByRole('link', { name: 'All jobs' }).click()
    await page
      .getByRole('table', { name: 'Jobs' })
      .getByRole('link', { name: 'Suspend 2 user groups' })
      .waitFor()
    await assertLooksGood(page)
    await page.getByRole('link', { name: 'User groups', exact: true }).click()
    await page.getByLabel('Search by name, id or token').fill('bulk-')
    await page.getByText('No user group matches').waitFor()
  })
})
