import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import {
  assertAccessible,
  assertFits,
  focused,
  replaceText,
  sharedConsole,
  tabTo,
} from './support/console.ts'

const sizes = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const

/** Asserts that an element is in the visible part of the page, and that nothing covers its middle. */
async function assertVisible(element: Locator): Promise<void> {
  const covering = await element.evaluate((e: Element) => {
    const { left, top, width, height } = e.getBoundingClientRect()
    const found = document.elementFromPoint(left + width / 2, top + Math.min(height, 40) / 2)
    return found !== null && (e.contains(found) || found.contains(e)) ? null : (found?.outerHTML ?? 'outside')
  })
  assert.equal(covering, null)
}

/** Asserts that a failed attempt shows the message next to the button, and focuses the field or else the message. */
async function assertFailure(page: Page, message: string | RegExp, field?: Locator): Promise<void> {
  const alert = page.locator('form').getByRole('alert')
  await alert.getByText(message).waitFor()
  await assertVisible(alert)
  const button = page.locator('form button[type=submit]')
  const [above, below] = [await alert.boundingBox(), await button.boundingBox()]
  assert.ok(above && below && below.y - (above.y + above.height) < 40, JSON.stringify({ above, below }))
  const active = page.locator(':focus')
  await assertVisible(active)
  if (field === undefined) assert.equal(await active.getByRole('alert').count(), 1)
  else assert.ok(await field.evaluate((e: Element) => e === document.activeElement))
}

const failing = (status: number, code: string, message: string) => ({
  status,
  json: { success: 0, error: { code, message, request_id: 'r-42' } },
})

describe('failures in the console', () => {
  const running = sharedConsole()

  for (const size of sizes) {
    const opened = async (...[t, opening]: Parameters<ReturnType<typeof running>['open']>) => {
      const page = await running().open(t, { ...opening, colorScheme: size.colorScheme })
      await page?.setViewportSize(size)
      return page
    }

    it(`are shown and focused, and an undone save is taken back, at ${size.width} px`, async (t) => {
      const { create, admin } = running()
      const mapping = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`schema-${i}`, 'eu']))
      const team = await create(`failing-${size.width}`, { name: 'Failing customer', mapping })
      await create(`taken-${size.width}`)
      const page = await opened(t, {
        path: '/user-groups/new',
        expected: /status of 4|status of 500|ERR_INTERNET_DISCONNECTED/,
      })
      if (page === undefined) return
      const id = page.getByRole('textbox', { name: 'Id' })
      const name = page.getByRole('textbox', { name: 'Name' })
      const submit = async () => page.getByRole('button', { name: 'Create' }).press('Enter')
      await submit()
      await assertFailure(page, /user_group_id: .*name: /, id)
      await id.fill(`taken-${size.width}`)
      await submit()
      await assertFailure(page, /^name: /, name)
      await name.fill('Taken')
      await submit()
      await assertFailure(page, /another user group has this id/, id)
      await assertAccessible(page)
      await assertFits(page)
      await id.fill(`created-${size.width}`)
      await page.getByRole('textbox', { name: 'Properties' }).focus()
      await page.keyboard.insertText('{"rate": 1.50}')
      await submit()
      await page.getByRole('heading', { name: 'Taken', level: 1 }).waitFor()
      await page.locator('h1:focus').waitFor()
      const created = await admin.getUserGroup(of({ team_id: Number(page.url().split('/').at(-1)) }))
      assert.match(created.text, /"properties":\{"rate":\s?1\.50\}/)

      await page.goto(`/console/user-groups/${team.team_id}/edit`)
      const properties = page.getByRole('textbox', { name: 'Properties' })
      const save = async () => {
        await page.getByRole('button', { name: 'Save' }).focus()
        await page.keyboard.press('Enter')
      }

      await replaceText(properties, '{"plan": }')
      await save()
      await assertFailure(page, /properties: is no JSON/, properties)
      await replaceText(properties, '{"plan": "gold"}')
      await name.fill(' ')
      await save()
      await assertFailure(page, /^name: /, name)
      await name.fill('Saved customer')

      await page.context().setOffline(true)
      await save()
      await assertFailure(page, /^No response from the service/)
      await page.context().setOffline(false)
      const patch = `**/user-groups/${team.team_id}`
      for (const error of [
        failing(409, 'limit_reached', 'There are too many of them.'),
        failing(413, 'body_too_large', 'The body is larger than 1 MiB.'),
      ]) {
        await page.route(patch, (route) => route.fulfill(error))
        await save()
        await assertFailure(page, error.json.error.message)
        await page.unroute(patch)
      }

      // 412, also if the change of the other person cannot be loaded.
      await admin.patchUserGroup({ ...of(team), body: { properties: { seats: 1 } } })
      const view = '**/user-groups/*/view'
      await page.route(view, (route) => route.fulfill(failing(500, 'internal', 'Something went wrong.')))
      await save()
      await assertFailure(page, 'The changes could not be loaded.')
      await page.unroute(view)
      await save()
      await assertFailure(page, 'It was changed while you were editing')
      await assertAccessible(page)
      await assertFits(page)
      await page.getByRole('button', { name: 'Keep my draft, on top of it' }).click()
      await page.locator('button[type=submit]:focus').waitFor()
      await save()

      const toast = page.getByRole('status').filter({ hasText: 'Saved' })
      await toast.waitFor()
      await page.locator('h1:focus').waitFor()
      await assertVisible(page.getByRole('heading', { name: 'Saved customer', level: 1 }))
      await assertVisible(toast.getByRole('button', { name: 'Undo' }))
      await toast.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('heading', { name: 'Failing customer', level: 1 }).waitFor()
      await page.getByRole('status').getByText('Undone').waitFor()
      await page.locator('h1:focus').waitFor()
      assert.deepEqual(managedIn(await admin.getUserGroup(of(team)), 'getUserGroup').properties, { seats: 1 })
    })
  }

  it('leave the focus in a dialog, which keeps it and returns it to the button that opened it', async (t) => {
    const { create } = running()
    const { team_id } = await create('dialogs', { name: 'Dialog customer' })
    const page = await running().open(t, { path: `/user-groups/${team_id}`, expected: /status of 500/ })
    if (page === undefined) return
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Rotate token' }).waitFor()
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'More' }).press('Enter')
      await page.getByRole('menuitem', { name: item }).press('Enter')
    }
    await tabTo(page, 'Rotate token')
    await page.keyboard.press('Enter')
    await page.locator('[role=dialog] button:focus').waitFor()
    assert.equal(await focused(page), 'Cancel')
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('Tab')
      assert.equal(await page.locator('[role=dialog] :focus').count(), 1)
    }
    await page.keyboard.press('Escape')
    await page.locator('button:focus', { hasText: 'Rotate token' }).waitFor()

    await choose('Suspend')
    const route = '**/suspend'
    await page.route(route, (request) => request.fulfill(failing(500, 'internal', 'Something went wrong.')))
    await dialog.getByRole('button', { name: 'Suspend' }).press('Enter')
    await dialog.getByRole('alert').getByText('Something went wrong.').waitFor()
    assert.equal(await page.locator('[role=dialog] :focus').count(), 1)
    await page.keyboard.press('Escape')
    await page.locator('button:focus', { hasText: 'More' }).waitFor()

    await page.unroute(route)
    await choose('Suspend')
    await dialog.getByRole('button', { name: 'Suspend' }).press('Enter')
    await page.getByRole('status').getByText('Suspended').waitFor()
    await page.locator('button:focus', { hasText: 'More' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It is suspended.').waitFor({ state: 'detached' })

    await choose('Delete')
    await dialog.getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'Dialog customer' }).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).press('Enter')
    await page.locator('h1:focus').waitFor()
    assert.equal(await focused(page), 'User groups')
  })
})
