import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertAnswers } from '../../server/test/support/admin-api.ts'
import { createApiToken } from '../../server/test/support/command.ts'
import { userApi } from '../../server/test/support/user-api.ts'
import { contentOf, focused, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'

const path = '/api-tokens'

interface Listed {
  readonly name: string
  readonly scopes: readonly string[]
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

describe('the page of the API tokens', () => {
  const running = sharedConsole()

  const listed = async (name: string) => {
    const answer = await running().admin.listApiTokens()
    const { api_tokens: all } = assertAnswers<{ api_tokens: Listed[] }>(answer, 'listApiTokens')
    return all.find((apiToken) => apiToken.name === name)
  }

  it('makes one by keyboard alone, shows it once, and keeps it nowhere', async (t) => {
    const { open, service } = running()
    const page = await open(t, { path })
    if (page === undefined) return
    await page.getByRole('table', { name: 'API tokens' }).waitFor()
    await tabTo(page, 'Create an API token')
    await page.keyboard.press('Enter')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('staging')
    while ((await page.locator('input[value=write]:focus').count()) === 0) await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.getByText('It is not shown again').waitFor()
    const token = (await page.getByLabel('API token', { exact: true }).textContent()) ?? ''
    assert.match(token, /^uga_customer_\w{38}$/)
    assert.equal(
      (await userApi(service.origin, token).get({ user_group_id: 'by-staging', name: 'x' })).status,
      200,
    )

    await tabTo(page, 'I have kept it')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'staging', exact: true }).waitFor()
    assert.equal(await focused(page), 'Create an API token')
    assert.ok(!(await contentOf(page)).includes(token))
    const made = await listed('staging')
    assert.deepEqual(made?.scopes, ['write'])
    const days = (Date.parse(made.expires_at ?? '') - Date.now()) / 86_400_000
    assert.ok(days > 89.9 && days <= 90, `${days} days`)
  })

  it('copies the new one', async (t) => {
    const page = await running().open(t, { path })
    if (page === undefined) return
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Create an API token' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('copied')
    await page.getByRole('checkbox', { name: 'read' }).check()
    await page.getByRole('combobox', { name: 'Expires after' }).selectOption({ label: 'Never' })
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'Copy the API token' }).click()
    const token = await page.getByLabel('API token', { exact: true }).textContent()
    assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), token)
    assert.equal((await listed('copied'))?.expires_at, null)
  })

  it('tells at the fields what is missing', async (t) => {
    const page = await running().open(t, { path, expected: /400/ })
    if (page === undefined) return
    await page.getByRole('button', { name: 'Create an API token' }).click()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Must have 1 to 255 characters.').waitFor()
    await page.getByText('Choose at least one.').waitFor()
  })

  it('revokes one after asking, and lists it no longer among the valid', async (t) => {
    const { open, service } = running()
    await createApiToken(service, 'Customer', '--name', 'old-backend')
    const page = await open(t, { path })
    if (page === undefined) return
    await page.getByRole('button', { name: /^Revoke old-backend/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('a backend that uses it gets no user group tokens any more').waitFor()
    await dialog.getByRole('button', { name: 'Revoke for good' }).click()
    await page.getByRole('cell', { name: 'old-backend', exact: true }).waitFor({ state: 'detached' })
    assert.notEqual((await listed('old-backend'))?.revoked_at, null)
    await page.getByText('All (').click()
    await page
      .getByRole('row')
      .filter({ hasText: 'old-backend' })
      .getByText('Revoked', { exact: true })
      .waitFor()
  })

  it('is left by who revokes the one that is signed in with', async (t) => {
    const { open, service } = running()
    const own = await createApiToken(service, 'Customer', '--scopes', 'admin', '--name', 'own')
    const page = await open(t, { path, apiToken: own, expected: /401/ })
    if (page === undefined) return
    await page.getByRole('button', { name: /^Revoke own/ }).click()
    await page.getByText('and will be signed out').waitFor()
    await page.getByRole('button', { name: 'Revoke for good' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('is good to read in both themes and at any width, its dialogs too', async (t) => {
    await assertGoodLooks(
      t,
      running(),
      { path },
      (page) => page.getByRole('table', { name: 'API tokens' }).waitFor(),
      async (page) => {
        await page.getByRole('button', { name: 'Create an API token' }).click()
        await page.getByRole('dialog').waitFor()
      },
      async (page) => {
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page
          .getByRole('button', { name: /^Revoke / })
          .first()
          .click()
        await page.getByRole('dialog').waitFor()
      },
    )
  })
})
