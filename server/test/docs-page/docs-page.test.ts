import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { findChromium, launchChromium } from '../support/chromium.ts'
import { startService } from '../support/service.ts'

const operations = {
  get: 'Get or create a user group',
  post: 'Rotate the token of a user group',
  put: 'Update a user group',
}

test('the API reference renders in a browser, whole and from this service alone', async (t) => {
  const executablePath = findChromium(t)
  if (executablePath === undefined) return
  const { origin } = await startService(t)
  const page = await openPage(t, executablePath)
  const { complaints, urls } = watch(page)

  await page.goto(`${origin}/docs`)
  for (const [method, summary] of Object.entries(operations)) {
    const operation = page
      .locator(`.opblock-${method}`)
      .filter({ has: page.locator('[data-path="/api/user"]') })
    await operation.waitFor()
    assert.match(await operation.innerText(), new RegExp(summary))
    // An operation's styles and scripts are put to work only where it is opened.
    await operation.locator('.opblock-summary-control').click()
    const body = operation.locator('.opblock-section-request-body')
    await body.waitFor()
    await body.locator('.highlight-code').waitFor()
    await operation.locator('.responses-table').first().waitFor()
  }
  await page.waitForLoadState('networkidle')
  const screenshot = process.env.UGS_TEST_SCREENSHOT
  if (screenshot !== undefined) await page.screenshot({ path: screenshot, fullPage: true })

  assert.equal(await page.title(), 'User Group Service API')
  // Nothing there asks for an API token.
  assert.equal(await page.getByRole('button', { name: /authorize|try it out/i }).count(), 0)
  assert.equal(await page.getByRole('textbox').and(page.locator(':enabled')).count(), 0)
  assert.deepEqual(complaints, [])
  const elsewhere = urls.filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin)
  assert.deepEqual(elsewhere, [])
  assert.ok(urls.includes(`${origin}/openapi.json`), urls.join('\n'))
})

async function openPage(t: TestContext, executablePath: string): Promise<Page> {
  const browser = await launchChromium(executablePath)
  t.after(() => browser.close())
  return browser.newPage({ viewport: { width: 1280, height: 900 } })
}

/** Collects, from now on, what the page asks for and what it or the browser complains about. */
function watch(page: Page): { complaints: string[]; urls: string[] } {
  const complaints: string[] = []
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  page.on('requestfailed', (request) =>
    complaints.push(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`),
  )
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`)
  })
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  // A violation of the content security policy is an error there, too.
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  return { complaints, urls }
}
