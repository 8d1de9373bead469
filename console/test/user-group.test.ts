import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, replaceText, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

describe('user group page', () => {
  const running = sharedConsole()
  const shown = async (team: { readonly team_id: number }) =>
    managedIn(await running().admin.getUserGroup(of(team)), 'getUserGroup')

  it('shows errors of the service at their fields', async (t) => {
    const { open, create } = running()
    const team = await create('fields', { name: 'Field customer', mapping: { sales: 'warehouse-eu' } })
    const page = await open(t, { path: `/user-groups/${team.team_id}/edit`, expected: /status of 400/ })
    if (page === undefined) return
    const name = page.getByRole('textbox', { name: 'Name' })
    const properties = page.getByRole('textbox', { name: 'Properties' })
    const save = page.getByRole('button', { name: 'Save' })

    await replaceText(properties, '{"plan": }')
    await save.click()
    await page.getByText(/^is no JSON/).waitFor()

    await replaceText(properties, '[1]')
    await name.fill('   ')
    await save.click()
    const described = async (field: typeof name) =>
      page.locator(`[id="${(await field.getAttribute('aria-describedby'))?.split(' ').at(-1)}"]`).innerText()
    await page.locator('[aria-invalid=true]').nth(1).waitFor()
    assert.match(await described(name), /white space|blank|must/)
    assert.match(await described(properties), /object/)
    await assertAccessible(page)

    await name.fill('Field customer')
    await replaceText(properties, '{"plan":"gold","plan":"silver"}')
    await save.click()
    await page
      .getByText(/duplicate|twice/i)
      .first()
      .waitFor()
    assert.equal((await shown(team)).properties, null)
  })

  it('edits 64 KiB of properties, of which it renders the visible lines', async (t) => {
    const { open, create } = running()
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`property_${i}`, { plan: 'gold', seats: i, tags: ['a', 'b'] }]),
    )
    assert.ok(JSON.stringify(properties).length > 50_000)
    const team = await create('large', { name: 'Large customer', properties })
    const page = await open(t, { path: `/user-groups/${team.team_id}/edit` })
    if (page === undefined) return
    const editor = page.getByRole('textbox', { name: 'Properties' })
    await editor.focus()
    await page.keyboard.press('Control+End')
    await editor.getByText('property_899').waitFor()
    assert.ok((await editor.locator('.cm-line').count()) < 200)
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.type('"added": "\u202E",')
    await editor.locator('.cm-specialChar').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Properties › added: nothing →').waitFor()
    assert.deepEqual((await shown(team)).properties, { added: '\u202E', ...properties })
  })

  it('is accessible in both themes, and does not scroll horizontally at 360 px', async (t) => {
    const { open, create } = running()
    const long = 'an-id-without-any-place-where-a-line-could-end-'.repeat(5)
    const team = await create(long, {
      name: 'Long customer',
      mapping: { sales: 'warehouse-eu', [long]: long },
      properties: { text: long },
    })
    const page = await open(t, { path: `/user-groups/${team.team_id}` })
    if (page === undefined) return
    await page.getByText('1 of 2 entries of its mapping name nothing').waitFor()
    await page.getByRole('button', { name: 'Show the token' }).click()
    await page.getByRole('button', { name: 'Hide the token' }).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await assertAccessible(page)
    await page.getByRole('menuitem', { name: 'End sessions' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await assertAccessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Rotate token' }).click()
    await dialog.waitFor()
    await assertAccessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    for (const [tab, sign] of [
      ['Activity', 'Facts'],
      ['Data', 'Variables'],
      ['Edit', 'Properties'],
      ['Usage', 'Viewers'],
    ] as const) {
      await page.getByRole('navigation', { name: 'User group' }).getByRole('link', { name: tab }).click()
      await page.getByRole('heading', { name: sign }).waitFor()
      await assertLooksGood(page)
    }
  })
})
