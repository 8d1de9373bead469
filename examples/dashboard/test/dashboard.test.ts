import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import type { Page } from 'playwright-core'
import { assertAccessible, assertFits } from '../../../console/test/support/console.ts'
import { customers } from '../host/customers.js'
import {
  assertNothingIsShown,
  change,
  chartOf,
  dashboardIn,
  forgedFrom,
  inCustomer,
  isFocused,
  openDashboard,
  recordStates,
  switchTo,
  tokenHandedOver,
  useExample,
} from './support.ts'

/** Far below the time of a poll, and enough for a slow machine. */
const maxDelayMs = 3000
const stopped = 'Its token is no longer valid.'

describe('example dashboard', () => {
  const { openPage, example } = useExample()

  it('shows each user group and viewer only their own rows, and keeps the token from everything else', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, context, requests, complaints } = opened
    const tokens: string[] = []
    const seen = new Set<string>()
    for (const customer of customers.slice(0, 3)) {
      const handedOver = tokenHandedOver(page)
      if (tokens.length === 0) await openDashboard(page, example)
      else await switchTo(page, personOf(customer))
      tokens.push(await handedOver)
      assert.match(tokens.at(-1) ?? '', /^ey[\w.-]+$/)

      await dashboardIn(page).is('shown')
      const rows = await rowsOf(page)
      const expected = productsOf(customer)
      assert.ok(expected.length > 0)
      assert.deepEqual(rows, expected)
      assert.deepEqual(await chartOf(page), monthsOf(customer))
      assert.ok(await isDrawn(page))
      seen.add(JSON.stringify(rows))

      const positions = await Promise.all(
        page.frames().map((frame) =>
          frame.evaluate(() => ({
            url: location.href,
            html: document.documentElement.outerHTML,
            storage: [Object.entries(localStorage), Object.entries(sessionStorage), document.cookie],
          })),
        ),
      )
      assert.equal(positions.length, 2)
      assertHasNone(JSON.stringify(positions), tokens)
    }
    const dashboard = dashboardIn(page)
    // Sees only some regions of Customer North.
    await switchTo(page, 'North: Ben')
    await dashboard.frame.getByText('Regions: Coast ·').waitFor()
    seen.add(JSON.stringify(await rowsOf(page)))
    assert.equal(seen.size, 4)
    await switchTo(page, 'East: Eva')
    await dashboard.is('empty')
    await dashboard.frame.getByText('No sales').waitFor()
    assert.equal(await dashboard.rows.count(), 0)

    assertHasNone(example.output(), tokens)
    assert.deepEqual(await context.cookies(), [])
    for (const request of requests) {
      assertHasNone(request.url(), tokens)
      assert.equal(new URL(request.url()).hostname, '127.0.0.1')
      assert.equal((await request.allHeaders()).referer ?? '', '', request.url())
    }
    assert.ok(requests.some((request) => request.url() === `${example.rendererOrigin}/view`))
    assert.deepEqual(complaints, [])
  })

  it('works with the keyboard alone: people, changes, filters, and months of a product', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    const { frame, is } = await openDashboard(page, example)
    await page.keyboard.press('Tab')
    assert.equal(await page.getByLabel('North: Ada').evaluate(isFocused), true)
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.getByLabel('North: Ben').isChecked(), true)
    await page.keyboard.press('ArrowRight')
    await frame.getByRole('heading', { name: 'Sales of Customer South' }).waitFor()
    const buttons = ['End sessions', 'Let in', 'Suspend', 'Resume', 'Change regions']
    for (const name of buttons) {
      await page.keyboard.press('Tab')
      assert.equal(await page.getByRole('button', { name, exact: true }).evaluate(isFocused), true)
    }
    await page.keyboard.press('Tab')
    await frame.locator('#refresh:focus').waitFor()

    const south = customers[1] ?? assert.fail()
    await frame.getByLabel('From').fill('2025-03-10')
    await frame.getByLabel('To').fill('2025-04-20')
    await frame.getByText('Best month').waitFor()
    await waitForRows(page, productsOf(south, `AND day BETWEEN '2025-03-10' AND '2025-04-20'`))
    assert.deepEqual(await chartOf(page), monthsOf(south, `AND day BETWEEN '2025-03-10' AND '2025-04-20'`))
    await frame.getByLabel('From').fill('2025-04-21')
    await is('empty')
    // Out of range: ignored, as a year that is being typed.
    await frame.getByLabel('To').fill('0202-04-20')
    await frame.getByLabel('From').fill('')
    await waitForRows(page, productsOf(south, `AND day <= '2025-04-20'`))
    await frame.getByLabel('To').fill('')
    await frame.getByLabel('From').fill('2025-11-01')
    await waitForRows(page, productsOf(south, `AND day >= '2025-11-01'`))

    await frame.getByRole('button', { name: 'Sensors' }).press('Enter')
    await frame.getByText('Revenue of Sensors by month, 2025').waitFor()
    const condition = `AND day >= '2025-11-01' AND product = 'Sensors'`
    const months = monthsOf(south, condition).Hardware ?? []
    assert.equal(months.length, 2)
    assert.deepEqual(await chartOf(page), { Hardware: months })
    const money = moneyOf(south)
    assert.deepEqual(
      (await rowsOf(page)).map(([name, line, , revenue]) => [name, line, revenue]),
      ['November', 'December'].map((name, i) => [name, 'Hardware', money.format(months[i] ?? 0)]),
    )
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await waitForRows(page, productsOf(south, `AND day >= '2025-11-01'`))
    assert.equal(await frame.locator('#table').evaluate(isFocused), true)
    assert.deepEqual(complaints, [])
  })

  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    it(`is accessible and fits ${width} px, ${colorScheme}`, async (t) => {
      const opened = await openPage(t)
      if (opened === undefined) return
      const { page } = opened
      await page.setViewportSize({ width, height: 850 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const dashboard = await openDashboard(page, example)
      const assertUsable = async () => {
        for (const frame of page.frames()) {
          await assertFits(frame)
          await assertAccessible(frame)
        }
      }
      await assertUsable()
      await dashboard.frame.getByRole('button', { name: 'Sensors' }).click()
      await dashboard.frame.getByText('Revenue of Sensors').waitFor()
      await assertUsable()
      t.after(() => example.ugs('user-group', 'resume', 'customer-north', ...inCustomer))
      await change(page, 'Suspend')
      await dashboard.is('refused')
      await assertUsable()
    })
  }

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

  it('stops within a second of a suspension, and comes back within a second of its end', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    const changeTo = async (button: string, state: 'refused' | 'shown') => {
      const done = page.waitForResponse((response) => response.url().endsWith(`/${button.toLowerCase()}`))
      await change(page, button)
      await done
      const start = performance.now()
      await dashboard.is(state)
      const took = performance.now() - start
      assert.ok(took < maxDelayMs, `${button} took ${took} ms`)
    }
    await changeTo('Suspend', 'refused')
    await assertNothingIsShown(page)
    await changeTo('Resume', 'shown')

    await changeTo('Suspend', 'refused')
    await page.reload()
    await dashboard.is('refused')
    // Without timers, the dashboard does not ask for a token by itself.
    await dashboard.frame.locator('body').evaluate(() => {
      for (let id = window.setTimeout(() => undefined); id > 0; id--) clearTimeout(id)
    })
    await changeTo('Resume', 'shown')
  })

  it('shows changed properties at once, in the same stream, and none as markup', async (t) => {
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

    const update = (...args: string[]) =>
      example.ugs('user-group', 'update', 'customer-north', ...inCustomer, ...args)
    const markup = `<img src="x" onerror="alert(1)">`
    await update('--name', markup)
    await dashboard.frame.getByText(markup).waitFor()
    assert.equal(await dashboard.frame.locator('img').count(), 0)
    await update('--properties', '{}')
    await dashboard.is('failed')
    assert.match(await dashboard.notice.innerText(), /user_group\.properties\.\w+ is not set/)
    await assertNothingIsShown(page)
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
    await example.ugs('user-group', 'suspend', 'customer-north', ...inCustomer)
    await setVisibility('visible')
    await dashboard.is('refused')
    await assertNothingIsShown(page)
    await example.ugs('user-group', 'resume', 'customer-north', ...inCustomer)
    await dashboard.is('shown')
  })

  it('shows nothing for an invalid token or while the renderer is unreachable, and recovers', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, context } = opened
    const handedOver = tokenHandedOver(page)
    const dashboard = await openDashboard(page, example)
    const genuine = await handedOver
    await page.route('**/view', (route) => route.abort())
    await dashboard.refresh.click()
    await dashboard.is('failed')
    await assertNothingIsShown(page)
    await page.unroute('**/view')
    await dashboard.is('shown')

    await page.route('**/dashboard-session', (route) => route.abort())
    const refused = context.waitForEvent('response', (response) => response.status() === 401)
    await postToFrame(page, forgedFrom(genuine))
    await refused
    await dashboard.is('refused')
    assert.ok((await dashboard.notice.innerText()).includes(stopped))
    await assertNothingIsShown(page)
    await postToFrame(page, genuine)
    await dashboard.is('shown')
  })

  function select(
    { id, dataSource, properties: { regions, product_lines } }: (typeof customers)[number],
    columns: string,
    rest: string,
  ): Record<string, string | number>[] {
    const database = new Database(join(example.folder, `${dataSource}.db`), { readonly: true })
    const names = (values: string[]) => values.map((value) => `'${value}'`).join()
    const rows = database
      .prepare(
        `SELECT ${columns}, SUM(orders) AS orders, SUM(revenue_cents) / 100.0 AS revenue FROM sales
         WHERE customer_id = '${id}' AND region IN (${names(regions)}) AND product_line IN (${names(product_lines)}) ${rest}`,
      )
      .all() as Record<string, string | number>[]
    database.close()
    return rows
  }

  /** The expected rows of the table, from the seeded database. */
  function productsOf(customer: (typeof customers)[number], condition = '') {
    const money = moneyOf(customer)
    return select(
      customer,
      'product, product_line',
      `${condition} GROUP BY product, product_line ORDER BY revenue DESC`,
    ).map(({ product, product_line, orders, revenue }) => [
      product,
      product_line,
      orders?.toLocaleString('en'),
      money.format(Number(revenue)),
    ])
  }

  /** The expected amounts of the chart by product line, from the seeded database. */
  function monthsOf(customer: (typeof customers)[number], condition = ''): Record<string, number[]> {
    const rows = select(
      customer,
      'substr(day, 1, 7) AS month, product_line',
      `${condition} GROUP BY month, product_line ORDER BY month`,
    )
    return Object.fromEntries(
      customer.properties.product_lines.map((line) => [
        line,
        rows.filter(({ product_line }) => product_line === line).map(({ revenue }) => Number(revenue)),
      ]),
    )
  }
})

/** Returns the name of the customer's first viewer in the switcher. */
function personOf({ name, viewers: [viewer] }: (typeof customers)[number]): string {
  return `${name.replace('Customer ', '')}: ${viewer?.name}`
}

/** The texts of the table, without the shares. */
async function rowsOf(page: Page): Promise<string[][]> {
  return dashboardIn(page).rows.evaluateAll((rows) =>
    rows.map((row) => Array.from(row.querySelectorAll('td'), (cell) => cell.textContent).slice(0, 4)),
  )
}

/** Resolves once the table has these rows. */
async function waitForRows(page: Page, expected: unknown[][]): Promise<void> {
  const { frame, rows } = dashboardIn(page)
  const last = expected.at(-1)?.[3]
  await frame
    .locator('#rows tr', { hasText: String(last) })
    .last()
    .waitFor()
  assert.ok((await rows.count()) > 0)
  assert.deepEqual(await rowsOf(page), expected)
}

function moneyOf({ properties: { currency } }: (typeof customers)[number]) {
  return new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 0 })
}

/** Returns true if the canvas is not blank. */
async function isDrawn(page: Page): Promise<boolean> {
  return dashboardIn(page).canvas.evaluate(async (element) => {
    const canvas = element as HTMLCanvasElement
    // The chart draws in the next frames.
    for (;;) {
      await new Promise(requestAnimationFrame)
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data
      if (pixels?.some((value) => value !== 0)) return true
    }
  })
}

function assertHasNone(text: string, tokens: string[]): void {
  for (const token of tokens) assert.ok(!text.includes(token), 'a token is where none should be')
}

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
