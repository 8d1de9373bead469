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

test('the API reference renders completely in a browser, with resources of this service only', async (t) => {
  const executablePath = findChromium(t)
  if (executablePath === undefined) return
  const { origin } = await startService(t)
  const page = await openPage(t, executablePath)
  const { problems, urls } = watch(page)

  await page.goto(`${origin}/docs`)
  for (const [method, summary] of Object.entries(operations)) {
    const operation = page
      .locator(`.opblock-${method}`)
      .filter({ has: page.locator('[data-path="/api/user"]') })
    await operation.waitFor()
    assert.match(await operation.innerText(), new RegExp(summary))
    // The details of an operation load when it is opened.
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
  // The page never asks for an API token.
  assert.equal(await page.getByRole('button', { name: /authorize|try it out/i }).count(), 0)
  assert.equal(await page.getByRole('textbox').and(page.locator(':enabled')).count(), 0)
  assert.deepEqual(problems, [])
  const elsewhere = urls.filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin)
  assert.deepEqual(elsewhere, [])
  assert.ok(urls.includes(`${origin}/openapi.json`), urls.join('\n'))
})

async function openPage(t: TestContext, executablePath: string): Promise<Page> {
  const browser = await launchChromium(executablePath)
  t.after(() => browser.close())
  return browser.newPage({ viewport: { width: 1280, height: 900 } })
}

/** Collects the requests of the page, and errors and warnings of the page and the browser. */
function watch(page: Page): { problems: string[]; urls: string[] } {
  const problems: string[] = []
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  page.on('requestfailed', (request) =>
    problems.push(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`),
  )
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.url()}: ${response.status()}`)
  })
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`))
  // Includes violations of the content security policy.
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`)
  })
  return { problems, urls }
}
