import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../server/src/config/database-url.ts'
import { openStore } from '../../../server/src/store/open-store.ts'
import { defaults } from '../../../server/test/store/store-options.ts'
import { assertSucceeded } from '../../../server/test/support/admin-api.ts'
import { createApiToken } from '../../../server/test/support/command.ts'
import { userApi } from '../../../server/test/support/user-api.ts'
import { consolePages } from '../support/page.ts'

const path = '/api-tokens'

interface Listed {
  readonly id: number
  readonly name: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly replaced_by: number | null
}

describe('API tokens page', () => {
  const running = consolePages()

  const listed = async (name: string) => {
    const response = await running().admin.listApiTokens()
    const { api_tokens: all } = assertSucceeded<{ api_tokens: Listed[] }>(response, 'listApiTokens')
    return all.find((apiToken) => apiToken.name === name)
  }
  const works = async (token: string) =>
    (await userApi(running().service.origin, token).get({ user_group_id: 'x', name: 'Name' })).status === 200

  it('creates one that expires on a chosen day', async (t) => {
    const { click, fill, find, see, user } = await running().open(t, path)
    await click('button', 'Create an API token')
    await fill('Name', 'for a quarter')
    await click('checkbox', /^read/)
    await user.selectOptions(await find('combobox', 'Expires after'), 'On a day of your choice')
    await click('button', 'Create')
    await see('Choose a day from today on')
    const end = new Date()
    end.setDate(end.getDate() + 10)
    const day = [end.getFullYear(), end.getMonth() + 1, end.getDate()]
    await fill('Last day', day.map((part) => String(part).padStart(2, '0')).join('-'))
    await click('button', 'Create')
    await click('button', 'I have kept it')
    // At the end of that day, in the time zone of this process.
    end.setHours(24, 0, 0, 0)
    const expiry = Date.parse((await listed('for a quarter'))?.expires_at ?? '')
    assert.ok(Math.abs(expiry - end.getTime()) < 600_000, new Date(expiry).toISOString())
  })

  it('creates one that never expires', async (t) => {
    const { click, fill, find, user } = await running().open(t, path)
    await click('button', 'Create an API token')
    await fill('Name', 'for ever')
    await click('checkbox', /^read/)
    await user.selectOptions(await find('combobox', 'Expires after'), 'Never')
    await click('button', 'Create')
    await click('button', 'I have kept it')
    assert.equal((await listed('for ever'))?.expires_at, null)
  })

  it('shows missing fields', async (t) => {
    const { click, see } = await running().open(t, path)
    await click('button', 'Create an API token')
    await click('button', 'Create')
    await see('Must have 1 to 255 characters.')
    await see(/^Must have 1 to \d+ entries\.$/)
  })

  it('rotates one, and both work during the chosen overlap', async (t) => {
    const { open, service } = running()
    const old = await createApiToken(service, 'Customer', '--name', 'rotated')
    const { click, count, find, row, see } = await open(t, path)
    const hoursUntil = (time: string | undefined | null) => (Date.parse(time ?? '') - Date.now()) / 3_600_000
    const said = async () =>
      hoursUntil((await see('still uses the old one from')).querySelector('time')?.dateTime)
    await click('button', /^Rotate rotated/)
    await see('This creates another one with the same name, scopes and lifetime')
    assert.ok(((await find('radio', /^After 24 hours/)) as HTMLInputElement).checked)
    assert.ok(Math.abs((await said()) - 24) < 0.5)
    await click('radio', /^After 1 hour/)
    assert.ok(Math.abs((await said()) - 1) < 0.5)
    await click('button', 'Rotate the API token')
    const token = (await see(/^uga_customer_\w{38}$/)).textContent
    await see(/^The old one, with the id \d+, works until/)
    assert.deepEqual([await works(old), await works(token)], [true, true])

    await click('button', 'I have kept it')
    const replaced = await listed('rotated')
    const replacedRow = await row(`replaced by ${replaced?.replaced_by}`)
    await find('button', /^Revoke/, replacedRow)
    assert.equal(count('button', /^Rotate/, replacedRow), 0)
    const hours = hoursUntil(replaced?.expires_at)
    assert.ok(hours > 0.9 && hours <= 1, `${hours} hours`)
    assert.ok(!document.documentElement.outerHTML.includes(token))
  })

  it('rotates one at once: the old one stops', async (t) => {
    const { open, service } = running()
    const old = await createApiToken(service, 'Customer', '--name', 'rotated at once')
    const { click, see } = await open(t, path)
    await click('button', /^Rotate rotated at once/)
    await click('radio', /^At once/)
    await see('the service refuses every program that uses the old one')
    await click('button', 'Rotate the API token')
    await see(/^The old one, with the id \d+, has stopped\.$/)
    const token = (await see(/^uga_customer_/)).textContent
    assert.deepEqual([await works(old), await works(token)], [false, true])
  })

  it('rotates the token of this session, but not at once', async (t) => {
    const { open, service } = running()
    const own = await createApiToken(service, 'Customer', '--scopes', 'admin', '--name', 'mine')
    const { click, find, see } = await open(t, path, own)
    await click('button', /^Rotate mine/)
    await see('will be signed out when it stops')
    assert.ok(((await find('radio', /^At once/)) as HTMLInputElement).disabled)
    await click('button', 'Rotate the API token')
    await click('button', 'I have kept it')
    await see('(you are signed in with it)')
  })

  it('reports that somebody else has already rotated one', async (t) => {
    const { open, service, admin } = running()
    await createApiToken(service, 'Customer', '--name', 'contested')
    const { click, find, see } = await open(t, path)
    await click('button', /^Rotate contested/)
    const id = (await listed('contested'))?.id ?? 0
    assertSucceeded(await admin.rotateApiToken({ params: { id }, body: {} }), 'rotateApiToken')
    await click('button', 'Rotate the API token')
    await see('was already replaced by the one with the id', await find('alert'))
  })

  it('shows the last use of each', async (t) => {
    const { open, service } = running()
    await createApiToken(service, 'Customer', '--name', 'never used')
    await createApiToken(service, 'Customer', '--name', 'once used')
    const url = service.databaseUrl ?? `sqlite:${join(service.dataFolder, 'ugs.db')}`
    const store = await openStore(parseDatabaseUrl(url), defaults)
    t.after(() => store.close())
    const usedAt = Date.now() - 5 * 3_600_000
    await store.apiTokens.recordUses([{ id: (await listed('once used'))?.id ?? 0, usedAt }])
    const { find, row } = await open(t, path)
    await find('columnheader', 'Last used')
    await find('cell', '5 hours ago', await row('once used'))
    await find('cell', 'never', await row('never used'))
  })

  it('revokes one after a confirmation, and lists it as revoked', async (t) => {
    const { open, service } = running()
    await createApiToken(service, 'Customer', '--name', 'old-backend')
    const { click, gone, see, row } = await open(t, path)
    await click('button', /^Revoke old-backend/)
    await see('a backend that uses it gets no user group tokens any more')
    await click('button', 'Revoke permanently')
    await gone(/^old-backend$/)
    assert.notEqual((await listed('old-backend'))?.revoked_at, null)
    await click('radio', /^All \(/)
    await see('Revoked', await row('old-backend'))
  })
  it('signs out when it revokes the token of this session', async (t) => {
    const { open, service } = running()
    const own = await createApiToken(service, 'Customer', '--scopes', 'admin', '--name', 'own')
    const { click, find, see } = await open(t, path, own)
    await click('button', /^Revoke own/)
    await see('and will be signed out')
    await click('button', 'Revoke permanently')
    await find('heading', 'Sign in')
  })
})
