import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { contentOf, sharedConsole, tabTo } from './support/console.ts'
import { assertGoodLooks } from './support/looks.ts'

const path = '/leaked-token'

async function lookUp(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Token' }).fill(text)
  await page.getByRole('button', { name: 'Look it up' }).click()
}

describe('leaked token page', () => {
  const running = sharedConsole()
  const isActive = async (token: string) =>
    ((await running().introspect(token)).body as { active: boolean }).active

  it('finds the owner in a log line and stops the token, with the keyboard alone', async (t) => {
    const { create } = running()
    const { token } = await create('leaked', { name: 'Leaked customer' })
    const page = await assertGoodLooks(
      t,
      running(),
      { path },
      async (page) => {
        await lookUp(page, 'unknown')
        await page.getByText('Not known here').waitFor()
      },
      async (page) => {
        await lookUp(page, token)
        await page.getByText('It is the current token').waitFor()
      },
      async (page) => {
        await page.getByRole('button', { name: 'Stop this token' }).click()
        await page.getByRole('dialog').waitFor()
      },
    )
    if (page === undefined) return
    await page.goto(`/console${path}`)
    await tabTo(page, 'Skip to the content')
    await page.getByRole('textbox', { name: 'Token' }).focus()
    await page.keyboard.insertText(`2026-11-21 GET /embed?token=${token}&theme=dark 200`)
    await page.keyboard.press('Enter')
    await page.getByText('It is the current token').waitFor()
    await page.getByRole('link', { name: 'Leaked customer' }).waitFor()
    await tabTo(page, 'Stop this token')
    await page.keyboard.press('Enter')
    await page.getByText('Leaked customer gets another token').waitFor()
    await tabTo(page, 'Stop it')
    assert.equal(await isActive(token), true)
    await page.keyboard.press('Enter')
    await page.getByText('It is stopped').waitFor()
    assert.equal(await isActive(token), false)
    assert.ok(!(await contentOf(page)).includes(token))
  })
})
