import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'
import { register } from './support/registry.ts'

describe('user group page', () => {
  const running = sharedConsole()
  const shown = async (team: { readonly team_id: number }) =>
    managedIn(await running().admin.getUserGroup(of(team)), 'getUserGroup')

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
    const { open, create, admin } = running()
    await register(admin, 'sales', ['warehouse-eu'])
    const long = 'an-id-without-any-place-where-a-line-could-end-'.repeat(5)
    const team = await create(long, {
      name: 'Long customer',
      mapping: { sales: 'warehouse-eu', [long]: long },
      properties: { text: long },
    })
    await admin.rotateTokenOfUserGroup({ ...of(team), body: { grace_period_seconds: 86_400 } })
    await admin.suspendUserGroup(of(team))
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
