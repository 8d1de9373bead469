import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { assertSucceeded, managedIn, of } from '../../server/test/support/admin-api.ts'
import { assertAccessible, replaceText, sharedConsole } from './support/console.ts'
import { assertLooksGood } from './support/looks.ts'

describe('user group page', () => {
  const running = sharedConsole()
  const shown = async (team: { readonly team_id: number }) =>
    managedIn(await running().admin.getUserGroup(of(team)), 'getUserGroup')

  before(async () => {
    const { admin } = running()
    const response = await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } })
    const schemaId = assertSucceeded<{ schema: { id: number } }>(response, 'createSchema').schema.id
    for (const [provided_id, name] of [
      ['warehouse-eu', 'Warehouse EU'],
      ['warehouse-us', 'Warehouse US'],
    ]) {
      await admin.createDataSource({ body: { schema_id: schemaId, provided_id, name } })
    }
  })

  it('explains empty dashboards, applies the suggested correction, and reverts it', async (t) => {
    const { open, create } = running()
    const team = await create('slip', { name: 'Slip customer', mapping: { sales: 'warehose-eu' } })
    const page = await open(t, { path: `/user-groups/${team.team_id}` })
    if (page === undefined) return
    const reasons = page.getByRole('region', { name: 'Why its dashboards may be empty' })
    await reasons.getByText('Its mapping names nothing that is registered.').waitFor()
    await reasons.getByText('No renderer has introspected it yet.').waitFor()
    await page.getByText('Did you mean “warehouse-eu”?').waitFor()

    await reasons.getByRole('link', { name: 'Edit the mapping' }).click()
    await page.getByRole('button', { name: 'Use “warehouse-eu”' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Mapping › sales: warehose-eu → warehouse-eu').waitFor()
    assert.deepEqual((await shown(team)).mapping, { sales: 'warehouse-eu' })

    await page.getByRole('list', { name: 'Activity' }).getByRole('button', { name: 'Undo' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('cell', { name: 'warehose-eu' }).waitFor()
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Did you mean “warehouse-eu”?').waitFor()
    assert.deepEqual((await shown(team)).mapping, { sales: 'warehose-eu' })
  })

  it('reports that nothing is wrong', async (t) => {
    const { open, create } = running()
    const team = await create('fine', { name: 'Fine customer', mapping: { sales: 'warehouse-us' } })
    const page = await open(t)
    if (page === undefined) return
    // The service updates this value once a minute.
    await page.route(`**/user-groups/${team.team_id}/view`, async (route) => {
      const response = await route.fetch()
      const view = (await response.json()) as object
      await route.fulfill({ response, json: { ...view, last_introspected_at: '2026-11-21T20:15:00.000Z' } })
    })
    await page.getByRole('link', { name: 'Fine customer' }).click()
    await page.getByText('Nothing here keeps its dashboards empty').waitFor()
    await page.getByText(/A renderer last introspected it/).waitFor()
  })

  it('views as a customer, or says which setting is missing', async (t) => {
    const { open, create } = running()
    const team = await create('viewed as', { name: 'Shown customer' })
    const page = await open(t, { path: `/user-groups/${team.team_id}`, expected: /501/ })
    if (page === undefined) return
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'View as this customer' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Open its dashboards' }).click()
    await dialog.getByText('UGS_DASHBOARD_URL').waitFor()
    await page.route('**/view-as', (route) =>
      route.fulfill({
        json: { success: 1, url: 'about:blank#session=x', expires_at: '2026-11-28T10:00:00Z' },
      }),
    )
    const opened = page.context().waitForEvent('page')
    await dialog.getByRole('button', { name: 'Open its dashboards' }).click()
    await (await opened).close()
    await dialog.waitFor({ state: 'detached' })
  })

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

  it('prevents overwriting a concurrent change, and keeps the draft', async (t) => {
    const { open, create, admin } = running()
    const team = await create('raced', { name: 'Raced customer', properties: { plan: 'gold' } })
    const page = await open(t, { path: `/user-groups/${team.team_id}/edit`, expected: /status of 412/ })
    if (page === undefined) return
    await page.getByRole('textbox', { name: 'Name' }).fill('Name of the draft')
    await admin.patchUserGroup({ ...of(team), body: { properties: { plan: 'silver' } } })

    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It was changed while you were editing').waitFor()
    await page.getByText(/^You saved this/).waitFor()
    await page.getByRole('row', { name: 'Properties › plan gold silver' }).waitFor()
    await assertAccessible(page)
    assert.equal((await shown(team)).name, 'Raced customer')

    await page.getByRole('button', { name: 'Keep my draft, on top of it' }).click()
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Name of the draft')
    assert.match(await page.getByRole('textbox', { name: 'Properties' }).innerText(), /silver/)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Name of the draft', level: 1 }).waitFor()
    const { name, properties } = await shown(team)
    assert.deepEqual({ name, properties }, { name: 'Name of the draft', properties: { plan: 'silver' } })
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
