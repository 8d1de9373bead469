import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import axe from 'axe-core'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { manage, type ManagedEnvironment } from '../../../server/test/support/admin-api.ts'
import { findChromium, launchChromium } from '../../../server/test/support/chromium.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'

export interface Opening {
  /** Below `/console`; the list of user groups unless it is given. */
  readonly path?: string
  readonly width?: number
  readonly colorScheme?: 'light' | 'dark'
  /** Signs in with this API token; that of `Customer` unless it is given, and not at all where it is null. */
  readonly apiToken?: string | null
  /** What of the complaints of the browser the test is about, such as a status of 412. */
  readonly expected?: RegExp
}

export interface RunningConsole extends ManagedEnvironment {
  readonly service: RunningService
  /** The other environment of the same service. */
  readonly testing: ManagedEnvironment
  /**
   * A page in a browser profile of its own; undefined where the test is skipped, for want of a browser. When the test
   * ends there must have been no complaints but those that were expected.
   */
  readonly open: (t: TestContext, opening?: Opening) => Promise<Page | undefined>
}

/** One service and one browser for the tests of a suite: call this in a `describe`, and what it returns in its tests. */
export function sharedConsole(settings: Record<string, string> = {}): () => RunningConsole {
  let running: RunningConsole
  let browser: Browser | undefined
  const cleanups: (() => void | Promise<void>)[] = []
  before(async () => {
    const scope = { after: (done: () => void | Promise<void>) => cleanups.unshift(done) }
    const service = await startService(scope, { UGS_API_TOKEN_CACHE_MS: '0', ...settings })
    const customer = await manage(service)
    const testing = await manage(service, 'Testing')
    const open = async (t: TestContext, opening: Opening = {}) => {
      const executablePath = findChromium(t)
      if (executablePath === undefined) return undefined
      browser ??= await launchChromium(executablePath)
      return openPage(t, browser, service.origin, { apiToken: customer.adminToken, ...opening })
    }
    running = { ...customer, service, testing, open }
  })
  after(async () => {
    await browser?.close()
    for (const done of cleanups) await done()
  })
  return () => running
}

async function openPage(t: TestContext, browser: Browser, origin: string, opening: Opening): Promise<Page> {
  const { path = '/user-groups', width = 1280, colorScheme = 'light', apiToken = null, expected } = opening
  const context = await browser.newContext({
    viewport: { width, height: 850 },
    colorScheme,
    baseURL: origin,
    // So that what appears and goes is there or not, at once.
    reducedMotion: 'reduce',
  })
  // A busy machine may take its time; nothing is waited for longer than it needs.
  context.setDefaultTimeout(60_000)
  const complaints: string[] = []
  context.on('weberror', (error) => complaints.push(`uncaught: ${error.error().message}`))
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  context.on('request', (request) => {
    const { origin: asked, protocol } = new URL(request.url())
    if (protocol !== 'data:' && asked !== origin) complaints.push(`asked elsewhere: ${request.url()}`)
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(
      complaints.filter((complaint) => expected?.test(complaint) !== true),
      [],
    )
  })
  const page = await context.newPage()
  await page.goto(`/console${path}`)
  if (apiToken !== null) await signIn(page, apiToken)
  return page
}

/** Signs in as a person does; resolves once a page is there. */
export async function signIn(page: Page, apiToken: string): Promise<void> {
  await page.getByLabel('API token', { exact: true }).fill(apiToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Asserts that axe finds nothing wrong with what is shown. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(`${axe.source};undefined`)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ runOnly: ${JSON.stringify(tags)} })`)
  assert.deepEqual(
    violations.map(({ id, nodes }) => [
      id,
      ...nodes.map(({ html, failureSummary }) => [html, failureSummary]),
    ]),
    [],
    page.url(),
  )
}

/** Asserts that nobody has to scroll to the side. */
export async function assertFits(page: Page): Promise<void> {
  const [needed, given] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  assert.ok(needed <= given, `${page.url()}: ${needed} px in ${given}`)
}

/** All that could be read from the page, and all that it keeps in the browser. */
export async function contentOf(page: Page): Promise<string> {
  return page.evaluate<string>(
    `JSON.stringify([
      document.documentElement.outerHTML,
      Array.from(document.querySelectorAll('input, textarea'), ({ value }) => value),
      Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href
    ])`,
  )
}

/** What has the focus: its role or element, and its name. */
export async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `(({ activeElement: e }) => e === null ? '' : (e.getAttribute('aria-label') ?? e.textContent.trim()) || e.id)(document)`,
  )
}

/** Presses Tab until this has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press(key)
    const now = await focused(page)
    if (typeof name === 'string' ? now === name : name.test(now)) return
    passed.push(now)
  }
  assert.fail(`${String(name)} is not reached with ${key}: ${passed.join(' | ')}`)
}
