import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import type { Frame, Page } from 'playwright-core'
import type { Scope } from '../../../server/test/support/scope.ts'
import { forgedFrom, inCustomer, openDashboard, useExample, type RunningExample } from './support.ts'

describe('programs of the example', () => {
  const { openPage, example } = useExample({ SHOW_STATEMENTS: '1' })

  it('are not embedded by another origin, and exchange no token with it', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, requests, complaints } = opened
    await page.goto(await serveForeignPage(t))
    for (const origin of [example.rendererOrigin, example.hostOrigin]) {
      await embed(page, origin)
      assert.equal(page.frames()[1]?.url(), 'chrome-error://chromewebdata/')
      assert.ok(
        complaints.some((text) => text.includes('frame-ancestors') && text.includes(origin)),
        complaints.join(),
      )
    }

    await page.evaluate(() => {
      const received: unknown[] = []
      window.addEventListener('message', ({ data }) => received.push(data))
      Object.assign(window, { received })
    })
    // Even if it could embed them.
    const embedded = async (origin: string) => {
      await page.unrouteAll()
      await withoutFrameAncestors(page, origin)
      await embed(page, origin)
      const frame = page.frames()[1]
      assert.equal(frame?.url(), `${origin}/`)
      return frame
    }
    const dashboard = await embedded(example.rendererOrigin)
    await post(page, dashboard, { type: 'dashboard:token', token: await tokenOf(example, 'ada') })
    assert.equal(await dashboard.locator('body').getAttribute('data-state'), 'waiting')
    // A request that the dashboard would have followed with /view.
    await dashboard.evaluate(() => fetch('/icon.svg'))
    assert.ok(!requests.some((request) => request.url().endsWith('/view')))

    const product = await embedded(example.hostOrigin)
    await post(page, product, { type: 'dashboard:token-needed' })
    // The renderer's page does not run in a nested frame of another origin, so nothing requested a token.
    await product.evaluate(() => fetch('/icon.svg'))
    assert.ok(!requests.some((request) => request.url().endsWith('/dashboard-session')))
    assert.deepEqual(await page.evaluate(() => (window as unknown as { received: unknown[] }).received), [])
  })

  it('recognize another origin by Origin and Sec-Fetch-Site, and bound bodies', async () => {
    const body = '{"viewer":"ada"}'
    const cases: [status: number, headers: Record<string, string>, body: string][] = [
      [200, { origin: example.hostOrigin }, body],
      [200, { origin: example.hostOrigin, 'sec-fetch-site': 'same-origin' }, body],
      [403, {}, body],
      [403, { origin: example.rendererOrigin, 'sec-fetch-site': 'same-site' }, body],
      [403, { origin: 'null' }, body],
      [403, { origin: example.hostOrigin, 'sec-fetch-site': 'cross-site' }, body],
      [415, { origin: example.hostOrigin, 'content-type': 'text/plain' }, body],
      [400, { origin: example.hostOrigin }, '{"viewer":"eve"}'],
      [400, { origin: example.hostOrigin }, 'null'],
      [400, { origin: example.hostOrigin }, '{'],
      [413, { origin: example.hostOrigin }, JSON.stringify('x'.repeat(5000))],
    ]
    for (const [status, headers, sent] of cases) {
      const response = await fetch(`${example.hostOrigin}/dashboard-session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: sent,
      })
      const body = await response.text()
      assert.equal(response.status, status, `${JSON.stringify(headers)} ${sent.slice(0, 40)}: ${body}`)
      assert.equal(body.includes('"token":"ey'), status === 200)
    }
    const shown = ['user-group', 'show', 'customer-north', ...inCustomer, '--json']
    const before = await example.ugs(...shown)
    for (const path of ['/dashboard-session', '/end-sessions', '/suspend', '/change-regions']) {
      const headers = { 'content-type': 'application/json', origin: example.rendererOrigin }
      assert.equal((await fetch(example.hostOrigin + path, { method: 'POST', headers, body })).status, 403)
    }
    assert.equal(await example.ugs(...shown), before)
  })

  it('send the same security headers with every response', async () => {
    for (const path of ['/', '/page.js', '/view', '/nothing']) {
      for (const origin of [example.hostOrigin, example.rendererOrigin]) {
        const { headers } = await fetch(origin + path)
        assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self';/)
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.equal(headers.get('referrer-policy'), 'no-referrer')
        assert.equal(headers.get('cache-control'), 'no-store')
        assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
        assert.equal(headers.get('access-control-allow-origin'), null)
      }
    }
  })

  it('have no view for a forged token, one of the other environment, or an API token', async () => {
    const genuine = await tokenOf(example, 'ada')
    const testing = await example.ugs(
      ...['user-group', 'get-or-create', 'customer-north', '--name', 'Customer North'],
      ...['--mapping', 'null', '--environment', 'Testing'],
    )
    const apiToken = await example.ugs('api-token', 'create', ...inCustomer, '--name', 'test')
    for (const token of [forgedFrom(genuine), testing.trim(), apiToken.trim(), 'customer-north', undefined]) {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      assert.equal((await fetch(`${example.rendererOrigin}/view`, { headers })).status, 401)
    }
  })

  it('show statements in development, with values apart from the SQL', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const development = await openDashboard(opened.page, example)
    await development.frame.getByLabel('From').fill('2025-03-10')
    await development.frame.locator('summary').click()
    const statement = development.frame.locator('pre', { hasText: 'date(?)' }).first()
    assert.match(
      await statement.innerText(),
      /customer_id = \?[^]*bound: \["customer-north",[^]*"2025-03-10"\]/,
    )
    assert.doesNotMatch(await statement.innerText(), /filter\.|'/)
  })

  it('all end with Ctrl-C, and leave nothing behind', async () => {
    const origins = [example.hostOrigin, example.rendererOrigin, example.serviceOrigin]
    for (const origin of origins) await fetch(origin)
    assert.equal(await example.stop(), 0)
    for (const origin of origins) await assert.rejects(fetch(origin), `${origin} still responds`)
    assert.throws(() => new Database(join(example.folder, 'warehouse-eu.db'), { fileMustExist: true }))
  })
})

async function serveForeignPage(t: Scope): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><link rel="icon" href="data:,">')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Embeds the page in a frame. Resolves once it is loaded or refused. */
async function embed(page: Page, url: string): Promise<void> {
  await page.evaluate(async (src) => {
    const frame = document.createElement('iframe')
    frame.src = src
    document.body.replaceChildren(frame)
    await new Promise((resolve) => frame.addEventListener('load', resolve))
  }, url)
}

/**
 * Posts the message from the page to its frame. Resolves once the frame has handled it: its own listener runs before
 * the one added here.
 */
async function post(page: Page, frame: Frame, message: object): Promise<void> {
  await frame.evaluate(() => {
    const judged = new Promise<void>((resolve) =>
      window.addEventListener('message', ({ source }) => {
        if (source === window.parent) resolve()
      }),
    )
    Object.assign(window, { judged })
  })
  await page.evaluate((sent) => {
    document.querySelector('iframe')?.contentWindow?.postMessage(sent, '*')
  }, message)
  await frame.evaluate(() => (window as unknown as { judged: Promise<void> }).judged)
}

/** Removes the policy that forbids embedding, to test the other defenses. */
async function withoutFrameAncestors(page: Page, origin: string): Promise<void> {
  await page.route(`${origin}/`, async (route) => {
    const response = await route.fetch()
    const headers = response.headers()
    const policy = headers['content-security-policy']?.replace(/; frame-ancestors [^;]+/, '') ?? ''
    await route.fulfill({ response, headers: { ...headers, 'content-security-policy': policy } })
  })
}

/** Requests a token as the product's own page does. */
async function tokenOf({ hostOrigin }: RunningExample, viewer: string): Promise<string> {
  const response = await fetch(`${hostOrigin}/dashboard-session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: hostOrigin },
    body: JSON.stringify({ viewer }),
  })
  return ((await response.json()) as { token: string }).token
}
