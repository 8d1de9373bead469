import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertNothingIsShown,
  change,
  dashboardIn,
  openDashboard,
  switchTo,
  tokenHandedOver,
  useExample,
} from './support.ts'

const stopped = 'Its token is no longer valid.'

/** Far below the time of a poll, and enough for a slow machine. */
const maxDelayMs = 3000

describe('open dashboard', () => {
  const { openPage, example } = useExample()

  it('renews the session before it expires, without an interruption', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    const tokens: string[] = []
    // The service creates no sessions of less than a minute.
    await page.route('**/dashboard-session', async (route) => {
      const response = await route.fetch()
      const session = (await response.json()) as { token: string }
      tokens.push(session.token)
      await route.fulfill({ response, json: { ...session, expiresInSeconds: tokens.length === 1 ? 2 : 900 } })
    })
    const renewed = page.waitForRequest((request) => request.url().endsWith('/view') && tokens.length === 2)
    const dashboard = await openDashboard(page, example)
    const states = await recordStates(page)
    assert.equal((await (await renewed).allHeaders()).authorization, `Bearer ${tokens[1]}`)
    await dashboard.token.getByText(fingerprintOf(tokens[1] ?? '')).waitFor()
    assert.notEqual(tokens[0], tokens[1])
    assert.deepEqual(
      (await states()).filter((state) => state !== 'shown'),
      [],
    )
    assert.deepEqual(complaints, [])
  })

  it('stops within a second of the end of its sessions, and no other viewer’s, until the viewer is let in', async (t) => {
    const [opened, other] = [await openPage(t), await openPage(t)]
    if (opened === undefined || other === undefined) return
    const { page, requests } = opened
    const dashboard = await openDashboard(page, example)
    await openDashboard(other.page, example, 'North: Ben')
    const states = await recordStates(other.page)
    const ended = page.waitForResponse((response) => response.url().endsWith('/end-sessions'))
    const refused = page.waitForResponse((response) => response.status() === 403)
    await change(page, 'End sessions')
    await ended
    const start = performance.now()
    await dashboard.is('refused')
    const took = performance.now() - start
    assert.ok(took < maxDelayMs, `it stopped after ${took} ms`)
    t.diagnostic(`it stopped ${took.toFixed()} ms after the response`)
    assert.ok((await dashboard.notice.innerText()).includes(stopped))
    await assertNothingIsShown(page)
    await refused

    const asked = requests.filter((request) => request.url().endsWith('/dashboard-session')).length
    await dashboard.frame.locator('body').evaluate(() => {
      window.parent.postMessage({ type: 'dashboard:token-needed' }, '*')
    })
    await page.evaluate(() => fetch('/icon.svg'))
    assert.equal(requests.filter((request) => request.url().endsWith('/dashboard-session')).length, asked)
    assert.deepEqual(
      (await states()).filter((state) => state !== 'shown'),
      [],
    )

    await change(page, 'Let in')
    await dashboard.is('shown')
  })

  it('shows viewers of one customer their own regions', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    const rows = new Set<string>()
    for (const [person, regions] of [
      ['North: Ada', 'Coast, Inland'],
      ['North: Ben', 'Coast'],
    ] as const) {
      await switchTo(page, person)
      await dashboard.frame.getByText(`Regions: ${regions} ·`).waitFor()
      rows.add(JSON.stringify(await dashboard.rows.allInnerTexts()))
    }
    assert.equal(rows.size, 2)
  })

  it('stops within a second of a suspension, and comes back within a second of its end', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    for (const [button, state] of [
      ['Suspend', 'refused'],
      ['Resume', 'shown'],
    ] as const) {
      const done = page.waitForResponse((response) => response.url().endsWith(`/${button.toLowerCase()}`))
      await change(page, button)
      await done
      const start = performance.now()
      await dashboard.is(state)
      const took = performance.now() - start
      assert.ok(took < maxDelayMs, `${button} took ${took} ms`)
      if (state === 'refused') await assertNothingIsShown(page)
    }
  })

  it('shows the dashboard at once after a resume, if it was opened meanwhile', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    await change(page, 'Suspend')
    await dashboard.is('refused')
    await page.reload()
    await dashboard.is('refused')
    // Without timers, the dashboard does not ask for a token by itself.
    await dashboard.frame.locator('body').evaluate(() => {
      for (let id = window.setTimeout(() => undefined); id > 0; id--) clearTimeout(id)
    })
    await change(page, 'Resume')
    await dashboard.is('shown')
  })

  it('shows a changed property at once, in the same stream', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, requests, complaints } = opened
    const dashboard = await openDashboard(page, example)
    const seen = new Set<string>()
    for (const regions of ['Inland, Islands', 'Islands, Coast', 'Coast, Inland']) {
      await change(page, 'Change regions')
      await dashboard.frame.getByText(`Regions: ${regions} ·`).waitFor()
      await page.locator('#facts').getByText(regions, { exact: true }).waitFor()
      seen.add(JSON.stringify(await dashboard.rows.allInnerTexts()))
    }
    assert.equal(seen.size, 3)
    assert.equal(requests.filter((request) => request.url().endsWith('/view')).length, 1)
    assert.deepEqual(complaints, [])
  })

  it('ends its stream while the tab is hidden, and checks the token before it shows anything again', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, requests } = opened
    const dashboard = await openDashboard(page, example)
    const views = () => requests.filter((request) => request.url().endsWith('/view'))
    const setVisibility = (state: string) =>
      dashboard.frame.locator('body').evaluate((body, visibility) => {
        const { ownerDocument } = body
        Object.defineProperty(ownerDocument, 'visibilityState', { configurable: true, value: visibility })
        ownerDocument.dispatchEvent(new Event('visibilitychange'))
      }, state)

    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/view'))
    await setVisibility('hidden')
    await ended
    await dashboard.is('waiting')
    assert.equal(await dashboard.canvas.isVisible(), false)
    assert.equal(views().length, 1)
    await setVisibility('visible')
    await dashboard.is('shown')
    assert.equal(views().length, 2)

    await setVisibility('hidden')
    await example.ugs('user-group', 'suspend', 'customer-north', '--environment', 'Customer')
    await setVisibility('visible')
    await dashboard.is('refused')
    await assertNothingIsShown(page)
    await example.ugs('user-group', 'resume', 'customer-north', '--environment', 'Customer')
    await dashboard.is('shown')
  })

  it('shows nothing for a forged token, one of the other environment, or an API token', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, context } = opened
    const handedOver = tokenHandedOver(page)
    const dashboard = await openDashboard(page, example)
    const genuine = await handedOver
    await page.route('**/dashboard-session', (route) => route.abort())
    const testing = await example.ugs(
      ...['user-group', 'get-or-create', 'customer-north', '--name', 'Customer North'],
      ...['--mapping', 'null', '--environment', 'Testing'],
    )
    const apiToken = await example.ugs(
      ...['api-token', 'create', '--environment', 'Customer', '--name', 'test'],
    )
    const last = genuine.endsWith('0') ? '1' : '0'
    for (const token of [
      `${genuine.slice(0, -1)}${last}`,
      testing.trim(),
      apiToken.trim(),
      'customer-north',
    ]) {
      const refused = context.waitForEvent('response', (response) => response.status() === 401)
      await postToFrame(page, token)
      await refused
      await dashboard.is('refused')
      assert.ok((await dashboard.notice.innerText()).includes(stopped))
      await assertNothingIsShown(page)
    }
    await postToFrame(page, genuine)
    await dashboard.is('shown')
  })

  it('hides the dashboard while the renderer is unreachable, and recovers automatically', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    await page.route('**/view', (route) => route.abort())
    await dashboard.refresh.click()
    await dashboard.is('failed')
    await assertNothingIsShown(page)
    await page.unroute('**/view')
    await dashboard.is('shown')
  })
})

function fingerprintOf(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 8)
}

/** Records the states of the dashboard from now on. */
async function recordStates(page: Page): Promise<() => Promise<unknown[]>> {
  const body = dashboardIn(page).frame.locator('body')
  await body.evaluate((element) => {
    const states: unknown[] = []
    new MutationObserver(() => states.push(element.dataset.state)).observe(element, { attributes: true })
    Object.assign(window, { states })
  })
  return () => body.evaluate(() => (window as unknown as { states: unknown[] }).states)
}

/** Embeds the dashboard and passes it this token, as the product's page does. */
async function postToFrame(page: Page, token: string): Promise<void> {
  await page.evaluate((sent) => {
    const frame = document.querySelector('iframe')
    frame?.contentWindow?.postMessage({ type: 'dashboard:token', token: sent }, new URL(frame.src).origin)
  }, token)
}
