import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { findChromium, launchChromium } from '../../../server/test/support/chromium.ts'
import type { Scope } from '../../../server/test/support/scope.ts'
import { runUgs } from '../../../server/test/support/service.ts'

/** Options of `ugs` for the environment of the example's user groups. */
export const inCustomer = ['--environment', 'Customer']

export interface RunningExample {
  readonly hostOrigin: string
  readonly rendererOrigin: string
  readonly serviceOrigin: string
  /** Output of all processes so far. */
  readonly output: () => string
  /** Its temporary folder. */
  readonly folder: string
  /** Runs `ugs` on the service's store and returns its output. */
  readonly ugs: (...args: string[]) => Promise<string>
  /** Stops it as Ctrl-C does. Resolves with the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts the example as users do, in its own temporary folder. */
export async function startExample(t: Scope, settings: Record<string, string> = {}): Promise<RunningExample> {
  const temporary = mkdtempSync(join(tmpdir(), 'ugs-test-'))
  t.after(() => rmSync(temporary, { recursive: true, force: true }))
  const child = spawn(process.execPath, [fileURLToPath(new URL('../start.js', import.meta.url))], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT')
      await once(child, 'exit')
    }
    return child.exitCode
  }
  t.after(async () => {
    await stop()
  })
  const ended = once(child, 'close')
  while (!output.includes('Press Ctrl-C')) {
    await Promise.race([once(child.stdout, 'data'), ended])
    if (child.exitCode !== null) throw new Error(`the example ended with ${child.exitCode}: ${output}`)
  }
  const [hostOrigin = '', rendererOrigin = '', serviceOrigin = ''] = output.match(/http:\/\/[\d.:]+\d/g) ?? []
  const folder = join(temporary, readdirSync(temporary).find((name) => name.startsWith('ugs-example-')) ?? '')
  const ugs = async (...args: string[]) => {
    const settings = { UGS_DATA_DIR: join(folder, 'service'), UGS_MAPPING: 'registered' }
    const { code, stdout, stderr } = await runUgs(args, settings)
    if (code !== 0) throw new Error(stderr)
    return stdout
  }
  return { hostOrigin, rendererOrigin, serviceOrigin, output: () => output, folder, ugs, stop }
}

/** Starts the example before the tests of a suite, and stops it after them. */
export function useExample(settings: Record<string, string> = {}) {
  const cleanups: (() => void | Promise<void>)[] = []
  const example = {} as RunningExample
  let browser: Browser | undefined

  before(async () => {
    Object.assign(example, await startExample({ after: (done) => cleanups.unshift(done) }, settings))
  })
  after(async () => {
    await browser?.close()
    for (const done of cleanups) await done()
  })

  /** Returns a page in a separate browser profile, or undefined if the test is skipped. */
  async function openPage(t: TestContext) {
    const executablePath = findChromium(t)
    if (executablePath === undefined) return undefined
    browser ??= await launchChromium(executablePath)
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    t.after(() => context.close())
    const watched = watch(context)
    return { page: await context.newPage(), context, ...watched }
  }

  return { example, openPage }
}

interface Watched {
  readonly requests: Request[]
  /** Console output of the pages, including violations of the content security policy. */
  readonly complaints: string[]
}

/** Records requests of the pages and errors of pages and browser from now on. */
function watch(context: BrowserContext): Watched {
  const requests: Request[] = []
  const complaints: string[] = []
  context.on('request', (request) => requests.push(request))
  context.on('weberror', (error) => complaints.push(`uncaught: ${error.error().message}`))
  context.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
  return { requests, complaints }
}

/** The embedded dashboard. */
export function dashboardIn(page: Page) {
  const frame = page.frameLocator('iframe')
  return {
    frame,
    title: frame.locator('#title'),
    rows: frame.locator('#rows tr'),
    canvas: frame.locator('canvas'),
    notice: frame.locator('.notice'),
    token: frame.locator('#token'),
    refresh: frame.locator('#refresh'),
    /** Resolves once the dashboard is in this state. */
    is: (state: 'waiting' | 'shown' | 'empty' | 'refused' | 'failed') =>
      frame.locator(`body[data-state=${state}]`).waitFor(),
  }
}

/** Opens the product's page. Resolves once the dashboard of this person is shown. */
export async function openDashboard(page: Page, { hostOrigin }: RunningExample, person = 'North: Ada') {
  await page.goto(hostOrigin)
  const dashboard = dashboardIn(page)
  await dashboard.is('shown')
  if (person !== 'North: Ada') await switchTo(page, person)
  return dashboard
}

/** Signs in as another person. Resolves once their dashboard is shown. */
export async function switchTo(page: Page, person: string): Promise<void> {
  const [customer, viewer] = person.split(': ')
  await page.getByText(person, { exact: true }).click()
  const { frame } = dashboardIn(page)
  await frame.getByRole('heading', { name: `Sales of Customer ${customer}` }).waitFor()
  await frame.getByText(`${viewer} · Regions: `).waitFor()
}

/** Makes a change with the button of this name. */
export async function change(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
}

/** Data of the page's chart. */
export async function chartOf(page: Page): Promise<Record<string, number[]>> {
  return dashboardIn(page).canvas.evaluate((canvas) => {
    interface Chart {
      data: { datasets: { label: string; data: number[] }[] }
    }
    const { Chart } = globalThis as unknown as { Chart: { getChart(canvas: Element): Chart | undefined } }
    const datasets = Chart.getChart(canvas)?.data.datasets ?? []
    return Object.fromEntries(datasets.map(({ label, data }) => [label, data]))
  })
}

/** Asserts that the page has no trace of a view, hidden or not. */
export async function assertNothingIsShown(page: Page): Promise<void> {
  const dashboard = dashboardIn(page)
  assert.deepEqual(await chartOf(page), {})
  assert.equal(await dashboard.canvas.isVisible(), false)
  assert.equal(await dashboard.rows.count(), 0)
  const text = await dashboard.frame.locator('body').evaluate((body) => body.textContent)
  assert.doesNotMatch(text, /€|\$|Sales of|Warehouse|Analytics/)
}

/** Returns the next token that the product's backend sends to its page. */
export async function tokenHandedOver(page: Page): Promise<string> {
  const response = await page.waitForResponse((candidate) => candidate.url().endsWith('/dashboard-session'))
  return ((await response.json()) as { token: string }).token
}

export function isFocused(element: Element): boolean {
  return element === document.activeElement
}

/** Returns the token with another signature. */
export function forgedFrom(token: string): string {
  return `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
}

/** Records the states of the dashboard from now on. */
export async function recordStates(page: Page): Promise<() => Promise<unknown[]>> {
  const body = dashboardIn(page).frame.locator('body')
  await body.evaluate((element) => {
    const states: unknown[] = []
    new MutationObserver(() => states.push(element.dataset.state)).observe(element, { attributes: true })
    Object.assign(window, { states })
  })
  return () => body.evaluate(() => (window as unknown as { states: unknown[] }).states)
}
