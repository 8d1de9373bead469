import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, it } from 'node:test'
import type { Download } from 'playwright-core'
import { assertSucceeded, of } from '../../server/test/support/admin-api.ts'
import { sharedConsole } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'

const path = '/audit'

describe('audit log page', () => {
  const running = sharedConsole()

  before(async () => {
    const { admin, create } = running()
    const first = await create('acme', { name: 'Acme', mapping: { sales: 'eu' } })
    await create('other', { name: 'Other' })
    await admin.patchUserGroup({ ...of(first), body: { name: 'Acme Inc.', mapping: null } })
    await admin.suspendUserGroup(of(first))
    assertSucceeded(
      await admin.createApiToken({ body: { name: 'renderer', scopes: ['introspect'] } }),
      'createApiToken',
    )
  })

  it('is readable with and without events, and exports what matches', async (t) => {
    const page = await assertGoodLooks(
      t,
      running(),
      { path },
      async (page) => {
        await page.getByRole('row').filter({ hasText: 'User group suspended' }).waitFor()
      },
      async (page) => {
        await page.getByLabel('User group id').fill('nobody')
        await page.keyboard.press('Enter')
        await page.getByText('No event matches').waitFor()
      },
    )
    if (page === undefined) return
    await page.goto('/console/audit?action=user_group.suspended')
    await page.getByText('1 event.').waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    const downloading: Promise<Download> = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    const rows = await readFile(await (await downloading).path(), 'utf8')
    assert.match(rows, /^\{[^\n]*"action":"user_group.suspended"[^\n]*\}\n$/)
  })
})
