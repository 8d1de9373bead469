import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, sharedConsole, tabTo } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

const path = '/promotion'

async function preview(page: Page, ids: readonly string[]): Promise<void> {
  await page.getByRole('textbox', { name: 'Ids' }).fill(ids.join('\n'))
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Nothing is changed yet.').waitFor()
}

describe('promotion page', () => {
  const running = sharedConsole()

  it('previews the changes, applies them, and shows the result, also with the keyboard alone', async (t) => {
    const { open, create, testing, admin } = running()
    const changed = await create('changed', { name: 'Before', mapping: { sales: 'us' } })
    await (await testing()).create('changed', { name: 'After', mapping: { sales: 'eu' } })
    await (await testing()).create('fresh', { name: 'Fresh customer' })
    await (await testing()).create('picked-1', { name: 'Picked customer, renamed' })
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
    await assertLooksGood(page)
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

    await page.goto('/console/promotion?all=true')
    await page.getByRole('button', { name: 'Promote them' }).waitFor()
    await assertAccessible(page)
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
})
