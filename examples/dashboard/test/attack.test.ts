import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Frame, Page } from 'playwright-core'
import type { Scope } from '../../../server/test/support/scope.ts'
import { useExample, type RunningExample } from './support.ts'

describe('another origin', () => {
  const { example, openPage } = useExample()
  const cleanups: (() => void | Promise<void>)[] = []
  let foreignOrigin: string

  before(async () => {
    foreignOrigin = await serveForeignPage({ after: (done) => cleanups.unshift(done) })
  })
  after(async () => {
    for (const done of cleanups) await done()
  })

  /** A page of another origin. Undefined if the test is skipped. */
  async function openForeignPage(t: TestContext) {
    const opened = await openPage(t)
    await opened?.page.goto(foreignOrigin)
    return opened
  }

  it('cannot embed the dashboard or the product', async (t) => {
    const opened = await openForeignPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    for (const origin of [example.rendererOrigin, example.hostOrigin]) {
      await embed(page, origin)
      const frame = page.frames()[1]
      assert.equal(frame?.url(), 'chrome-error://chromewebdata/')
      assert.ok(
        complaints.some((text) => text.includes('frame-ancestors') && text.includes(origin)),
        complaints.join(),
      )
    }
  })

  it('cannot pass a token to the dashboard, even if it could embed it', async (t) => {
    const opened = await openForeignPage(t)
    if (opened === undefined) return
    const { page, requests } = opened
    await withoutFrameAncestors(page, example.rendererOrigin)
    await embed(page, example.rendererOrigin)
    const frame = page.frames()[1]
    assert.equal(frame?.url(), `${example.rendererOrigin}/`)

    const token = await tokenOf(example, 'ada')
    await post(page, frame, { type: 'dashboard:token', token })
    assert.equal(await frame.locator('body').getAttribute('data-state'), 'waiting')
    // A request that the dashboard would have followed with /view.
    await frame.evaluate(() => fetch('/icon.svg'))
    assert.ok(!requests.some((request) => request.url().endsWith('/view')))
  })

  it('gets no token from the product, even if it could embed it', async (t) => {
    const opened = await openForeignPage(t)
    if (opened === undefined) return
    const { page, requests } = opened
    await withoutFrameAncestors(page, example.hostOrigin)
    await page.evaluate(() => {
      const received: unknown[] = []
      window.addEventListener('message', ({ data }) => received.push(data))
      Object.assign(window, { received })
    })
    await embed(page, example.hostOrigin)
    const frame = page.frames()[1]
    assert.equal(frame?.url(), `${example.hostOrigin}/`)
    await post(page, frame, { type: 'dashboard:token-needed' })
    // The renderer's page does not run in a nested frame of another origin, so nothing requested a token.
    await frame.evaluate(() => fetch('/icon.svg'))
    assert.ok(!requests.some((request) => request.url().endsWith('/dashboard-session')))
    assert.deepEqual(await page.evaluate(() => (window as unknown as { received: unknown[] }).received), [])
  })

  it('gets no token from the product’s backend and no view from the renderer’s', async (t) => {
    const opened = await openForeignPage(t)
    if (opened === undefined) return
    const { page } = opened
    const token = await tokenOf(example, 'ada')
    const shown = ['user-group', 'show', 'customer-north', '--environment', 'Customer', '--json']
    const before = await example.ugs(...shown)
    for (const path of ['/dashboard-session', '/end-sessions', '/suspend', '/change-regions']) {
      // A request that needs no preflight. It gets no response and has no effect.
      const sent = page.evaluate(
        (url) => fetch(url, { method: 'POST', mode: 'no-cors', body: '{"viewer":"ada"}' }),
        example.hostOrigin + path,
      )
      await assert.rejects(sent, /Failed to fetch/)
    }
    assert.equal(await example.ugs(...shown), before)
    const asked = page.evaluate(
      ([url = '', sent]) => fetch(url, { headers: { authorization: `Bearer ${sent}` } }),
      [`${example.rendererOrigin}/view`, token],
    )
    await assert.rejects(asked, /Failed to fetch/)
  })

  it('is recognized by Origin and Sec-Fetch-Site; bodies are bounded', async () => {
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
  })

  it('gets the same security headers on every response', async () => {
    for (const path of ['/', '/page.js', '/view', '/nothing']) {
      for (const origin of [example.hostOrigin, example.rendererOrigin]) {
        const { headers } = await fetch(origin + path)
        assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self';/)
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.equal(headers.get('referrer-policy'), 'no-referrer')
        assert.equal(headers.get('cache-control'), 'no-store')
        assert.equal(headers.get('access-control-allow-origin'), null)
      }
    }
    const { status } = await fetch(`${example.rendererOrigin}/view`)
    assert.equal(status, 401)
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
