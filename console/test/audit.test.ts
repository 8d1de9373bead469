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
  let teamId: number

  before(async () => {
    const { admin, create } = running()
    const first = await create('acme', { name: 'Acme', mapping: { sales: 'eu' } })
    teamId = first.team_id
    await create('other', { name: 'Other' })
    await admin.patchUserGroup({ ...of(first), body: { name: 'Acme Inc.', mapping: null } })
    await admin.suspendUserGroup(of(first))
    assertSucceeded(
      await admin.createApiToken({ body: { name: 'renderer', scopes: ['introspect'] } }),
      'createApiToken',
    )
  })

  it('lists changes and authors, and links to the user group', async (t) => {
    const page = await running().open(t, { path })
    if (page === undefined) return
    const created = page
      .getByRole('row')
      .filter({ hasText: 'API token created' })
      .filter({ hasText: 'renderer' })
    await created.getByText('Scopes: introspect').waitFor()
    const changed = page.getByRole('row').filter({ hasText: 'User group changed' })
    await changed.getByText('Changed fields: name, mapping').waitFor()
    await changed.getByText(/API token \d+\), yours/).waitFor()
    await changed.getByRole('link', { name: 'acme' }).click()
    await page.getByRole('heading', { name: 'Acme Inc.', level: 1 }).waitFor()
  })

  it('shows the rows of an import as one, and each on request', async (t) => {
    const { open, admin } = running()
    const rows = [1, 2, 3].map((i) => `{"user_group_id":"imported-${i}","name":"Imported ${i}"}\n`)
    assertSucceeded(await admin.importUserGroups({ body: rows.join('') }), 'importUserGroups')
    const page = await open(t, { path: '/audit?action=user_group.created' })
    if (page === undefined) return
    const imported = page.getByRole('row').filter({ hasText: 'User group created: 3' })
    await imported.getByRole('link', { name: 'Show all 3' }).click()
    await page.getByText('3 events.').waitFor()
    await page.getByRole('row').filter({ hasText: 'imported-2' }).waitFor()
  })

  it('filters by user group and action, and shows an empty result', async (t) => {
    const page = await running().open(t, { path })
    if (page === undefined) return
    await page.getByLabel('User group id').fill('acme')
    await page.keyboard.press('Enter')
    await page.getByText('3 events.').waitFor()
    await page.getByRole('combobox', { name: 'What' }).click()
    await page.getByRole('option', { name: 'User group suspended' }).click()
    await page.getByText('1 event.').waitFor()
    await page.getByRole('combobox', { name: 'When' }).click()
    await page.getByRole('option', { name: 'Last hour' }).click()
    await page.getByText('1 event.').waitFor()
    await page.reload()
    await page.getByText('1 event.').waitFor()
    await page.getByLabel('Request id').fill('nothing')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('No event matches').waitFor()
  })

  it('filters by an operator of the command line and by days', async (t) => {
    const page = await running().open(t, { path })
    if (page === undefined) return
    const actor = page.getByRole('combobox', { name: 'By' })
    await actor.fill('root')
    await page.getByRole('option', { name: 'root (command line)' }).click()
    await page.waitForURL(/author=cli%3Aroot/)
    await actor.fill('cli:root')
    assert.deepEqual(await page.getByRole('option').allInnerTexts(), ['root (command line)'])
    await actor.fill('')
    await page.getByRole('option', { name: 'Anybody at the command line' }).click()
    await page.waitForURL(/author=cli%3A(?:$|&)/)
    await page.getByRole('row').filter({ hasText: '(command line)' }).first().waitFor()
    await page.getByLabel('To', { exact: true }).fill('2020-01-01')
    await page.getByText('No event matches').waitFor()
    assert.match(page.url(), /author=cli%3A&to=2020-01-01$/)
  })

  it('filters by an author as the management API names it, and by that of a row', async (t) => {
    const { open, admin } = running()
    const { api_token } = assertSucceeded<{ api_token: { id: number } }>(
      await admin.createApiToken({ body: { name: 'author', scopes: ['introspect'] } }),
      'createApiToken',
    )
    const page = await open(t, { path })
    if (page === undefined) return
    const author = page.getByRole('combobox', { name: 'By' })
    await author.fill('person:00u1abc')
    await page.getByRole('option', { name: 'person:00u1abc', exact: true }).click()
    await page.waitForURL(/author=person%3A00u1abc$/)
    await page.getByText('No event matches').waitFor()
    assert.equal(await author.inputValue(), 'person:00u1abc')
    await author.fill(`api_token:${api_token.id}`)
    await page.getByRole('option', { name: `author (${api_token.id})`, exact: true }).click()
    await page.waitForURL(new RegExp(`author=api_token%3A${api_token.id}$`))
    await author.fill('service')
    await page.getByRole('option', { name: 'The service', exact: true }).click()
    await page.waitForURL(/author=service$/)

    await page.goto('/console/audit?action=user_group.suspended')
    await page.getByRole('link', { name: /API token \d+\), yours/ }).click()
    await page.waitForURL(/action=user_group.suspended&author=api_token%3A\d+$/)
    await page.getByText('1 event.').waitFor()
  })

  it('exports what matches', async (t) => {
    const page = await running().open(t, { path: '/audit?action=user_group.suspended' })
    if (page === undefined) return
    await page.getByText('1 event.').waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    const downloading: Promise<Download> = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    const rows = await readFile(await (await downloading).path(), 'utf8')
    assert.match(rows, /^\{[^\n]*"action":"user_group.suspended"[^\n]*\}\n$/)
  })

  it('is linked from the activity of a user group', async (t) => {
    const page = await running().open(t, { path: `/user-groups/${teamId}` })
    if (page === undefined) return
    await page.getByRole('main').getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
    await page.getByText('3 events.').waitFor()
  })

  it('is readable with and without events', async (t) => {
    await assertGoodLooks(
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
  })
})
