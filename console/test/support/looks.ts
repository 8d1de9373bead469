import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, assertFits, colours, look, type Opening, type RunningConsole } from './console.ts'

/** Light and dark, wide and as narrow as a phone; a theme is about colours alone. */
const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280, rules: colours },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'light', width: 360, rules: colours },
] as const

/** Asserts in each of them that what `shows` lead to, one after the other, has no fault for anybody's eyes, ears or hands. */
export async function assertGoodLooks(
  t: TestContext,
  { open }: RunningConsole,
  opening: Opening,
  ...shows: readonly ((page: Page) => Promise<void>)[]
): Promise<void> {
  const page = await open(t, opening)
  if (page === undefined) return
  for (const show of shows) {
    await show(page)
    await assertLooksGood(page)
    assert.match(await page.title(), / · (Customer|Testing) · User Group Service$/)
  }
}

/** The same of what is shown. */
export async function assertLooksGood(page: Page): Promise<void> {
  for (const given of looks) {
    await look(page, given)
    await page.locator(`html[data-mantine-color-scheme=${given.colorScheme}]`).waitFor()
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    await assertAccessible(page, 'rules' in given ? given.rules : undefined)
    await assertFits(page)
  }
  await look(page, looks[0])
}
