import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import axe from 'axe-core'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { manage, type ManagedEnvironment } from '../../../server/test/support/admin-api.ts'
import { findChromium, launchChromium } from '../../../server/test/support/chromium.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'

export interface Opening {
  /** Below `/console`; the list of user groups unless it is given. */
  readonly path?: string
  readonly width?: number
  readonly colorScheme?: 'light' | 'dark'
  /**
   * Where it is given, the page has a browser profile of its own, signed in with this API token, and not at all where
   * it is null. Else it is in the one profile that tests share: signed in to `Customer`, and not to be signed out of.
   */
  readonly apiToken?: string | null
  /** What of the complaints of the browser the test is about, such as a status of 412. */
  readonly expected?: RegExp
}

export interface RunningConsole extends ManagedEnvironment {
  readonly service: RunningService
  /** The other environment of the same service. */
  readonly testing: () => Promise<ManagedEnvironment>
  /**
   * A page; undefined where the test is skipped, for want of a browser. When the test ends there must have been no
   * complaints but those that were expected.
   */
  readonly open: (t: TestContext, opening?: Opening) => Promise<Page | undefined>
}

/** One service and one browser for the tests of a suite: call this in a `describe`, and what it returns in its tests. */
export function sharedConsole(settings: Record<string, string> = {}): () => RunningConsole {
  let running: RunningConsole
  let testing: Promise<ManagedEnvironment> | undefined
  let browser: Browser | undefined
  let shared: Profile | undefined
  const cleanups: (() => void | Promise<void>)[] = []
  before(async () => {
    const scope = { after: (done: () => void | Promise<void>) => cleanups.unshift(done) }
    const service = await startService(scope, { UGS_API_TOKEN_CACHE_MS: '0', ...settings })
    const customer = await manage(service)
    const open = async (t: TestContext, opening: Opening = {}) => {
      if (browser === undefined) {
        const executablePath = findChromium(t)
        if (executablePath === undefined) return undefined
        browser = await launchChromium(executablePath)
      }
      const { apiToken } = opening
      if (apiToken === undefined) {
        const isNew = shared === undefined
        shared ??= await newProfile(browser, service.origin)
        return openPage(t, shared, { ...opening, apiToken: isNew ? customer.adminToken : null })
      }
      const profile = await newProfile(browser, service.origin)
      t.after(() => profile.context.close())
      return openPage(t, profile, opening)
    }
    running = { ...customer, service, testing: () => (testing ??= manage(service, 'Testing')), open }
  })
  after(async () => {
    await browser?.close()
    for (const done of cleanups) await done()
  })
  return () => running
}

interface Profile {
  readonly context: BrowserContext
  readonly origin: string
}

async function newProfile(browser: Browser, origin: string): Promise<Profile> {
  // With less motion, what appears and goes is there or not, at once.
  const context = await browser.newContext({ baseURL: origin, reducedMotion: 'reduce' })
  // A busy machine may take its time; nothing is waited for longer than it needs.
  context.setDefaultTimeout(60_000)
  return { context, origin }
}

async function openPage(
  t: TestContext,
  { context, origin }: Profile,
  { path = '/user-groups', width = 1280, colorScheme = 'light', apiToken = null, expected }: Opening,
): Promise<Page> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('request', (request) => {
    const { origin: asked, protocol } = new URL(request.url())
    if (protocol !== 'data:' && asked !== origin) complaints.push(`asked elsewhere: ${request.url()}`)
  })
  t.after(async () => {
    await page.close()
    assert.deepEqual(
      complaints.filter((complaint) => expected?.test(complaint) !== true),
      [],
    )
  })
  await look(page, { width, colorScheme })
  await page.goto(`/console${path}`)
  if (apiToken !== null) await signIn(page, apiToken)
  return page
}

/** As on a screen of this width, with this theme. */
export async function look(
  page: Page,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
): Promise<void> {
  await page.setViewportSize({ width, height: 850 })
  await page.emulateMedia({ colorScheme })
}

/** Signs in as a person does; resolves once a page is there. */
export async function signIn(page: Page, apiToken: string): Promise<void> {
  await page.getByLabel('API token', { exact: true }).fill(apiToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Resolves once colours and sizes are what they are to be; what turns for ever is not waited for. */
async function stillness(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const moving = () => document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime !== Infinity)
    for (let all = moving(); all.length > 0; all = moving()) await Promise.allSettled(all.map((a) => a.finished))
  })()`)
}

const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules that are about colours. */
export const colours = ['color-contrast', 'link-in-text-block']

/** Asserts that axe finds nothing wrong with what is shown. */
export async function assertAccessible(page: Page, runOnly: readonly string[] = all): Promise<void> {
  await stillness(page)
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`${axe.source};undefined`)
  // To tell all that is in order takes longer than to find it.
  const options: RunOptions = { runOnly: [...runOnly], resultTypes: ['violations'] }
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  )
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
