import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertNothingIsShown, change, openDashboard, tokenHandedOver, useExample } from './support.ts'

const stopped = 'Its token is no longer valid.'

/** Far below the time of a poll, and enough for a slow machine. */
const maxDelayMs = 3000

describe('open dashboard', () => {
  const { openPage, example } = useExample()

  it('continues after a rotation with the new token, without an error', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    const dashboard = await openDashboard(page, example, 'Customer West')
    const handedOver = tokenHandedOver(page)
    const before = await dashboard.token.innerText()
    await change(page, 'Rotate token')
    await page.getByText('Token rotated.').waitFor()
    await dashboard.token.getByText(fingerprintOf(await handedOver)).waitFor()
    assert.notEqual(await dashboard.token.innerText(), before)
    assert.equal(await dashboard.title.innerText(), 'Sales of Customer West')
    assert.ok((await dashboard.rows.count()) > 0)
    assert.deepEqual(complaints, [])
  })

  it('stops within a second of a rotation, and waits for a new token', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example, 'Customer West')
    await page.route('**/dashboard-token', (route) => route.abort())
    const rotation = page.waitForResponse((response) => response.url().endsWith('/rotate'))
    await change(page, 'Rotate token')
    await rotation
    const start = performance.now()
    await dashboard.is('refused')
    const took = performance.now() - start
    assert.ok(took < maxDelayMs, `it stopped after ${took} ms`)
    t.diagnostic(`it stopped ${took.toFixed()} ms after the response`)
    assert.ok((await dashboard.notice.innerText()).includes(stopped))
    await assertNothingIsShown(page)

    await page.unroute('**/dashboard-token')
    await dashboard.is('shown')
    assert.equal(await dashboard.title.innerText(), 'Sales of Customer West')
  })

  it('gets the new token during a grace period, without an interruption', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example, 'Customer West')
    await dashboard.frame.locator('body').evaluate((body) => {
      const states: unknown[] = []
      new MutationObserver(() => states.push(body.dataset.state)).observe(body, { attributes: true })
      Object.assign(window, { states })
    })
    const handedOver = tokenHandedOver(page)
    const followed = page.waitForRequest((request) => request.url().endsWith('/view'))
    await change(page, 'Rotate with grace period')
    const token = await handedOver
    assert.equal((await (await followed).allHeaders()).authorization, `Bearer ${token}`)
    await dashboard.token.getByText(fingerprintOf(token)).waitFor()
    const states = await dashboard.frame
      .locator('body')
      .evaluate(() => (window as unknown as { states: unknown[] }).states)
    assert.deepEqual(
      states.filter((state) => state !== 'shown'),
      [],
    )
  })

  it('stops within a second of a suspension, and resumes by itself without polling', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, requests } = opened
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
    // One stream for everything.
    assert.equal(requests.filter((request) => request.url().endsWith('/view')).length, 1)
  })

  it('shows the dashboard at once after a resume, if it was opened or its token rotated meanwhile', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    await change(page, 'Suspend')
    await dashboard.is('refused')
    await page.reload()
    await dashboard.is('refused')
    await change(page, 'Rotate token')
    await page.getByText('Token rotated.').waitFor()
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
    for (const region of ['Inland', 'Islands', 'Coast']) {
      await change(page, 'Change region')
      await dashboard.frame.getByText(`Region ${region} ·`).waitFor()
      await page.locator('#facts').getByText(region, { exact: true }).waitFor()
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
    await page.route('**/dashboard-token', (route) => route.abort())
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

/** Embeds the dashboard and passes it this token, as the product's page does. */
async function postToFrame(page: Page, token: string): Promise<void> {
  await page.evaluate((sent) => {
    const frame = document.querySelector('iframe')
    frame?.contentWindow?.postMessage({ type: 'dashboard:token', token: sent }, new URL(frame.src).origin)
  }, token)
}
