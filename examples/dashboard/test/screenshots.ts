// Takes the screenshots of this README and the picture of the repository's: `npm run screenshots --workspace examples/dashboard`.
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page, PageScreenshotOptions } from 'playwright-core'
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
  await shoot('suspended', {}, suspend)
  await example.ugs('user-group', 'resume', 'customer-north', '--environment', 'Customer')
  await shoot('dark', { colorScheme: 'dark' }, (page) => switchTo(page, 'South: Cem'))
  await shoot('phone', { viewport: { width: 390, height: 844 } }, () => Promise.resolve())
  for (const colorScheme of ['light', 'dark'] as const) await drawPicture(colorScheme)
} finally {
  for (const done of cleanups) await done()
}

/** Draws three pages side by side: two customers, and the first one after its suspension. */
async function drawPicture(colorScheme: 'light' | 'dark'): Promise<void> {
  const options = { colorScheme, viewport: { width: 940, height: 1060 } }
  const pages = {
    'Customer North': await capture(options, () => Promise.resolve()),
    'Customer West, another database': await capture(options, (page) => switchTo(page, 'West: Dora')),
    'Customer North, suspended': await capture(options, suspend),
  }
  await example.ugs('user-group', 'resume', 'customer-north', '--environment', 'Customer')
  const figures = Object.entries(pages).map(
    ([caption, image]) =>
      `<figure><img src="data:image/png;base64,${image.toString('base64')}"><figcaption>${caption}</figcaption></figure>`,
  )
  const page = await browser.newPage({ colorScheme, viewport: { width: 1440, height: 900 } })
  await page.setContent(`<!doctype html><style>
    :root { color-scheme: light dark }
    main { display: flex; gap: 16px; font: 600 18px system-ui, sans-serif; width: fit-content }
    figure { margin: 0; width: 440px }
    img { box-sizing: border-box; width: 100%; border: 1px solid #8886; border-radius: 12px }
    figcaption { margin-top: 8px; text-align: center; color: light-dark(#444, #bbb) }
  </style><main>${figures.join('')}</main>`)
  const path = fileURLToPath(new URL(`../../../docs/images/story-${colorScheme}.png`, import.meta.url))
  await page.locator('main').screenshot({ path, omitBackground: true })
  await page.close()
}

async function suspend(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Suspend' }).click()
  await dashboardIn(page).is('refused')
  await page.getByText('User group suspended.').waitFor()
}

async function shoot(
  name: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const path = fileURLToPath(new URL(`../screenshots/${name}.png`, import.meta.url))
  await capture(options, prepare, { path, fullPage: true })
}

/** Opens the dashboard and returns a screenshot. */
async function capture(
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<void>,
  screenshot: PageScreenshotOptions = {},
): Promise<Buffer> {
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
  const image = await page.screenshot(screenshot)
  await page.close()
  return image
}
