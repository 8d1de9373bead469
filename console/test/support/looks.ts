import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, assertFits, colours, look, type Opening, type RunningConsole } from './console.ts'

/** Light and dark, desktop and phone. Themes only affect colors. */
const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280, rules: colours },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'light', width: 360, rules: colours },
] as const

/** Asserts for each that the states that `shows` opens are accessible and fit the width. Returns the page. */
export async function assertGoodLooks(
  t: TestContext,
  { open }: RunningConsole,
  opening: Opening,
  ...shows: readonly ((page: Page) => Promise<void>)[]
): Promise<Page | undefined> {
  const page = await open(t, opening)
  if (page === undefined) return undefined
  for (const show of shows) {
    await show(page)
    await assertLooksGood(page)
    assert.match(await page.title(), / · (Customer|Testing) · User Group Service$/)
  }
  return page
}

/** Asserts the same of the current state. */
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
