import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import axe from 'axe-core'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core'
import { manage, type ManagedEnvironment } from '../../../server/test/support/admin-api.ts'
import { findChromium, launchChromium } from '../../../server/test/support/chromium.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'

export interface Opening {
  /** Path below `/console`. Default: the list of user groups. */
  readonly path?: string
  readonly width?: number
  readonly colorScheme?: 'light' | 'dark'
  /**
   * Opens the page in a separate browser profile, signed in with this API token, or signed out if null. By default, pages
   * share one profile that is signed in to `Customer`; do not sign out of it.
   */
  readonly apiToken?: string | null
  /** Expected browser errors, such as a status of 412. */
  readonly expected?: RegExp
}

export interface RunningConsole extends ManagedEnvironment {
  readonly service: RunningService
  /** Returns the other environment of the same service. */
  readonly testing: () => Promise<ManagedEnvironment>
  /**
   * Opens a page. Returns undefined if the test is skipped for lack of a browser. After the test, asserts that there
   * were only expected errors.
   */
  readonly open: (t: TestContext, opening?: Opening) => Promise<Page | undefined>
}

/** Starts one service and one browser for a suite. Call it in a `describe`, and the returned functions in its tests. */
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
  // With reduced motion, elements appear and disappear at once.
  const context = await browser.newContext({ baseURL: origin, reducedMotion: 'reduce' })
  // Generous for slow machines. Waits end as soon as possible.
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

/** Sets the width and the theme of the page. */
export async function look(
  page: Page,
  { width, colorScheme }: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
): Promise<void> {
  await page.setViewportSize({ width, height: 850 })
  await page.emulateMedia({ colorScheme })
}

/** Signs in as a user does. Resolves once a page is shown. */
export async function signIn(page: Page, apiToken: string): Promise<void> {
  await page.getByLabel('API token', { exact: true }).fill(apiToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Resolves once transitions have ended. Ignores infinite animations. */
async function stillness(page: Page | Frame): Promise<void> {
  await page.evaluate(`(async () => {
    const moving = () => document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime !== Infinity)
    for (let all = moving(); all.length > 0; all = moving()) await Promise.allSettled(all.map((a) => a.finished))
  })()`)
}

const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The axe rules about colors. */
export const colours = ['color-contrast', 'link-in-text-block']

/** Asserts that axe finds no violations in the page or frame. */
export async function assertAccessible(page: Page | Frame, runOnly: readonly string[] = all): Promise<void> {
  await stillness(page)
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`${axe.source};undefined`)
  // Reporting passed rules takes longer than finding violations.
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

/** Asserts that the page or frame does not scroll horizontally. */
export async function assertFits(page: Page | Frame): Promise<void> {
  const [needed, given] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )
  assert.ok(needed <= given, `${page.url()}: ${needed} px in ${given}`)
}

/** Returns everything that the page shows and that it keeps in the browser. */
export async function contentOf(page: Page): Promise<string> {
  return page.evaluate<string>(
    `JSON.stringify([
      document.documentElement.outerHTML,
      Array.from(document.querySelectorAll('input, textarea'), ({ value }) => value),
      Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href
    ])`,
  )
}

/** Describes the focused element by role or tag, and name. */
export async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `(({ activeElement: e }) => e === null ? '' : (e.getAttribute('aria-label') ?? e.textContent.trim()) || e.id)(document)`,
  )
}

/**
 * Replaces the text of the JSON editor as somebody at the keyboard does. After `fill`, Chromium would give the new text the style of the
 * old one, which the Content Security Policy refuses with an error.
 */
export async function replaceText(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+A')
  await editor.page().keyboard.insertText(text)
}

/** Presses Tab until the element has the focus. */
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
