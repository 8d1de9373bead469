import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSucceeded } from '../../server/test/support/admin-api.ts'
import { userApi } from '../../server/test/support/user-api.ts'
import { contentOf, focused, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'

const path = '/api-tokens'

interface Listed {
  readonly id: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly expires_at: string | null
}

describe('API tokens page', () => {
  const running = sharedConsole()

  const listed = async (name: string) => {
    const response = await running().admin.listApiTokens()
    const { api_tokens: all } = assertSucceeded<{ api_tokens: Listed[] }>(response, 'listApiTokens')
    return all.find((apiToken) => apiToken.name === name)
  }

  it('creates one with the keyboard alone, shows it once, copies it, and keeps it nowhere', async (t) => {
    const { service } = running()
    const page = await assertGoodLooks(
      t,
      running(),
      { path },
      (page) => page.getByRole('table', { name: 'API tokens' }).waitFor(),
      async (page) => {
        await page.getByRole('button', { name: 'Create an API token' }).click()
        await page.getByRole('dialog').waitFor()
      },
      ...(['Rotate', 'Revoke'] as const).map((title) => async (page: Page) => {
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page
          .getByRole('button', { name: new RegExp(`^${title} `) })
          .first()
          .click()
        await page.getByRole('dialog').waitFor()
      }),
    )
    if (page === undefined) return
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
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

    await tabTo(page, 'Copy the API token', 'Shift+Tab')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), token)
    await tabTo(page, 'I have kept it')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'staging', exact: true }).waitFor()
    assert.equal(await focused(page), 'Create an API token')
    assert.ok(!(await contentOf(page)).includes(token))
    const created = await listed('staging')
    assert.deepEqual(created?.scopes, ['write'])
    const days = (Date.parse(created.expires_at ?? '') - Date.now()) / 86_400_000
    assert.ok(days > 89.9 && days <= 90, `${days} days`)
  })
})
