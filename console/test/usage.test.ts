import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'
import { reportViews } from './support/usage.ts'

/** Presses the button of a download and returns the lines of the file. */
async function download(page: Page, section: string): Promise<string[]> {
  const started = page.waitForEvent('download')
  await page.getByRole('region', { name: section }).getByRole('button', { name: 'CSV' }).click()
  return (await readFile(await (await started).path(), 'utf8')).split('\r\n')
}

describe('usage pages', () => {
  const running = sharedConsole({ UGS_USAGE: 'viewers' })
  let teamId: number
  let day: string

  before(async () => {
    const { create, admin } = running()
    const team = await create('seen', { name: 'Seen customer' })
    const other = await create('other', { name: 'Other customer' })
    teamId = team.team_id
    day = managedIn(await admin.getUserGroup(of(team)), 'getUserGroup').created_at.slice(0, 10)
    await reportViews(running(), [
      { team_id: teamId, viewer_id: 'u-7', resource: 'sales-overview', day },
      { team_id: teamId, viewer_id: '=1+1', resource: 'sales-overview', day },
      { team_id: other.team_id, viewer_id: 'u-7', resource: 'stock', day },
    ])
  })

  it('show viewers, dashboards and user groups, save them as CSV, and erase a viewer after its id is typed', async (t) => {
    const { open } = running()
    const page = await open(t, { path: `/user-groups/${teamId}/usage?month=${day.slice(0, 7)}` })
    if (page === undefined) return
    await page.getByRole('row', { name: 'u-7' }).waitFor()
    await page.getByRole('row', { name: 'sales-overview' }).waitFor()
    assert.equal(await page.getByRole('row', { name: 'stock' }).count(), 0)
    await page
      .getByRole('table', { name: /^Views in/ })
      .getByText(': 2 viewers')
      .waitFor()
    await assertLooksGood(page)
    const [head, ...rows] = await download(page, 'Viewers')
    assert.equal(head, 'viewer_id,active_days,last_seen_at')
    assert.deepEqual(
      rows.map((row) => row.split(',').slice(0, 2).join()),
      ["'=1+1,1", 'u-7,1', ''],
    )

    await page.goto(`/console/usage?month=${day.slice(0, 7)}`)
    await page.getByRole('row', { name: 'Other customer' }).waitFor()
    await page
      .getByRole('table', { name: /^Views in/ })
      .getByText(': 2 user groups')
      .waitFor()
    await assertLooksGood(page)
    const [, ...lines] = await download(page, 'User groups')
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(0, 4).join()),
      [`${teamId},seen,Seen customer,2`, `${teamId + 1},other,Other customer,1`, ''],
    )
    await page.getByRole('link', { name: 'Seen customer' }).click()
    await page.getByRole('row', { name: 'sales-overview' }).waitFor()

    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Erase u-7' }).click()
    await dialog.getByText('of the workspace default').waitFor()
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await dialog.getByText('Enter u-7 to confirm.').first().waitFor()
    await assertLooksGood(page)
    await dialog.getByRole('textbox', { name: 'Viewer' }).fill('u-7')
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await page.getByText('1 record of u-7').waitFor()
    await page.getByRole('row', { name: 'u-7' }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: '=1+1' }).waitFor()

    await page.getByRole('link', { name: 'Usage' }).first().click()
    await page.getByRole('link', { name: 'Other customer' }).waitFor()
    await page.getByRole('button', { name: 'Erase a viewer' }).click()
    await dialog.getByRole('textbox', { name: 'Viewer' }).fill('u-7')
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await page.getByRole('link', { name: 'Other customer' }).waitFor({ state: 'detached' })
  })
})
