import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertSucceeded, managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, focused, sharedConsole, tabTo } from './support/console.ts'

const pages = [
  ['User groups', '/user-groups'],
  ['Leaked token', '/leaked-token'],
  ['Isolation report', '/isolation'],
  ['Promotion', '/promotion'],
  ['Jobs', '/jobs'],
  ['Import', '/import'],
  ['Data sources', '/data-sources'],
  ['API tokens', '/api-tokens'],
  ['Webhooks', '/webhooks'],
  ['Audit log', '/audit'],
] as const

describe('console with the keyboard alone', () => {
  const running = sharedConsole()

  before(async () => {
    const { admin } = running()
    const response = await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } })
    const schemaId = assertSucceeded<{ schema: { id: number } }>(response, 'createSchema').schema.id
    await admin.createDataSource({
      body: { schema_id: schemaId, provided_id: 'warehouse-eu', name: 'Warehouse EU' },
    })
  })

  it('signs in, finds a customer, corrects its mapping and reverts that', async (t) => {
    const { open, create, admin, adminToken } = running()
    const team = await create('keys', { name: 'Keyboard customer', mapping: { sales: 'warehose-eu' } })
    await create('others', { name: 'Other customer' })
    const page = await open(t, { apiToken: null })
    if (page === undefined) return
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.keyboard.type(adminToken)
    await page.keyboard.press('Enter')
    await page.getByText('2 user groups.').waitFor()

    await page.keyboard.press('/')
    assert.equal(await focused(page), 'Search by name, id or token')
    await page.keyboard.type('keyboard')
    await page.getByText('1 user group.').waitFor()
    await tabTo(page, 'Keyboard customer')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keyboard customer', level: 1 }).waitFor()
    await page.getByText('Did you mean').waitFor()

    await tabTo(page, 'Edit the mapping')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await tabTo(page, 'Use “warehouse-eu”')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Save')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Activity' }).getByRole('button', { name: 'Undo' }).waitFor()
    assert.deepEqual(managedIn(await admin.getUserGroup(of(team)), 'getUserGroup').mapping, {
      sales: 'warehouse-eu',
    })

    await tabTo(page, 'Undo')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await assertAccessible(page)
    await tabTo(page, 'Restore')
    await page.keyboard.press('Enter')
    await page.getByText('Did you mean').waitFor()
    assert.deepEqual(managedIn(await admin.getUserGroup(of(team)), 'getUserGroup').mapping, {
      sales: 'warehose-eu',
    })
  })

  it('skips to the content, focuses the heading of each page, and switches the colors', async (t) => {
    const { open, adminToken } = running()
    const page = await open(t, { apiToken: adminToken })
    if (page === undefined) return
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'Skip to the content')
    await page.keyboard.press('Enter')
    await page.locator('main:focus').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await tabTo(page, 'Skip to the search')
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'Search by name, id or token')

    for (const [title, path] of [...pages.slice(1), pages[0]]) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: title }).focus()
      await page.keyboard.press('Enter')
      await page.locator('h1:focus').waitFor()
      assert.equal(await focused(page), title)
      assert.equal(await page.title(), `${title} · Customer · User Group Service`)
      assert.ok(page.url().endsWith(`/console${path}`), page.url())
      await page.locator('[aria-current=page]').getByText(title).waitFor()
    }

    await tabTo(page, 'Colours')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor()
    await tabTo(page, 'Dark', 'ArrowDown')
    await page.keyboard.press('Enter')
    const dark = page.locator('html[data-mantine-color-scheme=dark]')
    await dark.waitFor()
    await page.reload()
    await dark.waitFor()

    await page.setViewportSize({ width: 360, height: 850 })
    await page.goto('/console/user-groups')
    await page.getByText(/user groups?\./).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    const passed: string[] = []
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('Tab')
      passed.push(await focused(page))
    }
    assert.ok(!passed.includes('Isolation report'), passed.join(' | '))

    await page.getByRole('button', { name: 'Open the navigation' }).focus()
    await page.keyboard.press('Enter')
    await tabTo(page, 'Isolation report')
    await page.keyboard.press('Enter')
    await page.locator('h1:focus').waitFor()
    assert.equal(await focused(page), 'Isolation report')
    await page.getByRole('button', { name: 'Open the navigation' }).waitFor()
  })

  it('goes to pages and user groups from the menu of Ctrl+K', async (t) => {
    const { open, create } = running()
    const group = await create('menu', { name: 'Menu customer' })
    const page = await open(t, { path: '/isolation' })
    if (page === undefined) return
    const openMenu = async () => {
      await page.keyboard.press('Control+k')
      await page.locator('[role=combobox]:focus').waitFor()
    }
    await page.getByRole('heading', { name: 'Isolation report' }).waitFor()
    // This page has no search of its own.
    await page.keyboard.press('/')
    await page.locator('[role=combobox]:focus').waitFor()
    await assertAccessible(page)
    await page.keyboard.type('menu cust')
    await page.getByRole('option', { name: 'Menu customer menu', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Menu customer', level: 1 }).waitFor()

    await openMenu()
    await page.keyboard.type(group.token)
    await page.getByRole('option', { name: 'Menu customer menu', selected: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await openMenu()
    await page.keyboard.type('suspend menu')
    await page.getByRole('option', { name: 'Suspend Menu customer menu', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Suspend Menu customer?' })
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('dialog').getByText('Finished').waitFor()
    assert.notEqual(
      managedIn(await running().admin.getUserGroup(of(group)), 'getUserGroup').suspended_at,
      null,
    )
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await openMenu()
    await page.keyboard.type('au')
    await page.keyboard.press('ArrowUp')
    await page.getByRole('option', { name: 'Audit log', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'Audit log' }).waitFor()

    await openMenu()
    await page.keyboard.type('shortcut')
    await page.getByRole('option', { selected: true }).getByText('Turn off').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    assert.equal(await focused(page), 'Audit log')
    await page.evaluate('localStorage.removeItem("console-slash-shortcut")')
  })
})
