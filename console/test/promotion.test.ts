import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, sharedConsole, signIn, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'

const path = '/promotion'

async function preview(page: Page, ids: readonly string[]): Promise<void> {
  await page.getByRole('textbox', { name: 'Ids' }).fill(ids.join('\n'))
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Nothing is changed yet.').waitFor()
}

describe('promotion page', () => {
  const running = sharedConsole()

  it('previews the changes, applies them, and shows the result', async (t) => {
    const { open, create, testing, admin } = running()
    const changed = await create('changed', { name: 'Before', mapping: { sales: 'us' } })
    await (await testing()).create('changed', { name: 'After', mapping: { sales: 'eu' } })
    await (await testing()).create('fresh', { name: 'Fresh customer' })
    await create('same')
    await (await testing()).create('same')
    const page = await open(t, { path })
    if (page === undefined) return

    await preview(page, ['changed', 'fresh', ' same ', 'same', '', 'nowhere'])
    const row = (text: string) => page.getByRole('row').filter({ hasText: text })
    await row('Name').filter({ hasText: 'Before' }).filter({ hasText: 'After' }).waitFor()
    await row('Mapping › sales').filter({ hasText: 'us' }).filter({ hasText: 'eu' }).waitFor()
    await page.getByRole('button', { name: /Will be new.*fresh/ }).waitFor()
    await row('same').getByText('Same already').waitFor()
    await row('nowhere').getByText('Testing has no user group with this id.').waitFor()
    assert.equal(managedIn(await admin.getUserGroup(of(changed)), 'getUserGroup').name, 'Before')

    await page.getByRole('button', { name: 'Promote 2 user groups' }).click()
    const dialog = page.getByRole('dialog', { name: 'Promote 2 user groups to Customer?' })
    await dialog.getByText('1 user group will be new in Customer').waitFor()
    await dialog.getByRole('button', { name: 'Promote' }).click()
    await page.getByText('2 user groups taken over to Customer.').waitFor()
    const now = managedIn(await admin.getUserGroup(of(changed)), 'getUserGroup')
    assert.deepEqual([now.name, now.mapping], ['After', { sales: 'eu' }])

    await page.getByRole('button', { name: /New.*fresh/ }).waitFor()
    await page.getByRole('link', { name: 'Open it in Customer' }).last().click()
    await page.getByRole('heading', { name: 'Fresh customer', level: 1 }).waitFor()
  })

  it('lists the user groups of Testing to choose from, with the keyboard alone', async (t) => {
    const { open, testing } = running()
    await (await testing()).create('picked-1', { name: 'Picked customer, renamed' })
    const page = await open(t, { path })
    if (page === undefined) return
    const picker = page.getByRole('combobox', { name: 'Add one from Testing' })
    await picker.focus()
    await page.keyboard.type('picked')
    await page.getByRole('option', { name: 'picked-1' }).waitFor()
    await page.getByRole('option').nth(1).waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    assert.equal(await page.getByRole('textbox', { name: 'Ids' }).inputValue(), 'picked-1\n')
    await tabTo(page, 'Preview')
    await page.keyboard.press('Enter')
    await page.getByRole('table').getByText('Picked customer, renamed').waitFor()
    await tabTo(page, 'Promote 1 user group')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Promote')
    await page.keyboard.press('Enter')
    await page.getByText('1 user group taken over to Customer.').waitFor()
  })

  it('promotes a search of the list of Testing in a job', async (t) => {
    const { open, testing, admin } = running()
    const { create, adminToken } = await testing()
    for (const id of ['searched-1', 'searched-2']) await create(id, { name: 'Searched customer' })
    const page = await open(t, { path: '/user-groups?text=searched', apiToken: adminToken })
    if (page === undefined) return
    await page.getByText('2 user groups.').waitFor()
    await page.getByLabel('Select Searched customer').first().check()
    await page.getByRole('link', { name: 'Promote' }).click()
    await signIn(page, running().adminToken)
    await page.getByText('1 user group, chosen one by one.').waitFor()

    await page.goto('/console/promotion?text=searched')
    await page.getByText('All that match. Name or id contains: searched.').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Promote them' }).click()
    const dialog = page.getByRole('dialog', { name: 'Promote all that match?' })
    const start = dialog.getByRole('button', { name: 'Promote' })
    assert.ok(await start.isDisabled())
    await dialog.getByLabel('Type “Customer” to confirm').fill('Customer')
    await start.click()
    await page.getByRole('dialog').getByText('Finished').waitFor()
    const response = await admin.searchUserGroups({ query: { text: 'searched' } })
    assert.equal((response.body as { user_groups: unknown[] }).user_groups.length, 2)
  })

  it('refers from Testing to Customer', async (t) => {
    const { testing } = running()
    const opening = { path, apiToken: (await testing()).adminToken }
    await assertGoodLooks(t, running(), opening, async (page) => {
      await page.getByText('You are signed in to Testing').waitFor()
    })
  })

  it('is readable in both themes and at any width', async (t) => {
    const { create, testing } = running()
    await create('looks-1', { properties: { plan: 'gold' } })
    await (await testing()).create('looks-1', { properties: { plan: 'silver', seats: 25 } })
    await (await testing()).create('looks-2')
    await assertGoodLooks(t, running(), { path }, async (page) => {
      await preview(page, ['looks-1', 'looks-2', 'nowhere'])
    })
  })
})
