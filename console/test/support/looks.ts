import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, assertFits, type Opening, type RunningConsole } from './console.ts'

/** Light and dark, wide and as narrow as a phone. */
const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 360 },
] as const satisfies Opening[]

/** Asserts in each of them that what `show` leads to has no fault for anybody's eyes, ears or hands. */
export async function assertGoodLooks(
  t: TestContext,
  { open }: RunningConsole,
  opening: Opening,
  show: (page: Page) => Promise<void>,
): Promise<void> {
  for (const look of looks) {
    const page = await open(t, { ...opening, ...look })
    if (page === undefined) return
    await show(page)
    await assertAccessible(page)
    await assertFits(page)
    assert.match(await page.title(), / · (Customer|Testing) · User Group Service$/)
  }
}
