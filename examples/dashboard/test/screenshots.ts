// Takes the screenshots of the README: `npm run screenshots --workspace examples/dashboard`.
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../../../server/test/support/chromium.ts'
import { dashboardIn, openDashboard, startExample, switchTo } from './support.ts'

const cleanups: (() => void | Promise<void>)[] = []
const example = await startExample({ after: (done) => cleanups.unshift(done) })
const browser = await launchChromium(process.env.CHROME_PATH ?? '/usr/bin/chromium')
cleanups.unshift(() => browser.close())

try {
  await shoot('customer-north', {}, () => Promise.resolve())
  await shoot('customer-west', {}, (page) => switchTo(page, 'West: Dora'))
  await shoot('drill-down', {}, async (page) => {
    const { frame } = dashboardIn(page)
    await frame.getByLabel('From').fill('2025-04-01')
    await frame.getByRole('button', { name: 'Sensors' }).click()
    await frame.getByText('Revenue of Sensors by month').waitFor()
  })
  await shoot('suspended', {}, async (page) => {
    await page.getByRole('button', { name: 'Suspend' }).click()
    await dashboardIn(page).is('refused')
    await page.getByText('User group suspended.').waitFor()
  })
  await example.ugs('user-group', 'resume', 'customer-north', '--environment', 'Customer')
  await shoot('dark', { colorScheme: 'dark' }, (page) => switchTo(page, 'South: Cem'))
  await shoot('phone', { viewport: { width: 390, height: 844 } }, () => Promise.resolve())
} finally {
  for (const done of cleanups) await done()
}

async function shoot(
  name: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: 1200, height: 800 },
    // Draws the chart without animation.
    reducedMotion: 'reduce',
    ...options,
  })
  await openDashboard(page, example)
  await prepare(page)
  // By then, the frame has the height of its content.
  await page.waitForFunction(() => document.querySelector('iframe')?.style.height !== '')
  await page.mouse.move(0, 0)
  const path = fileURLToPath(new URL(`../screenshots/${name}.png`, import.meta.url))
  await page.screenshot({ path, fullPage: true })
  await page.close()
}
