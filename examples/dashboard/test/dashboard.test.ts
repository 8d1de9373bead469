import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkTemplate } from '@user-group-service/renderer'
import Database from 'better-sqlite3'
import type { Page } from 'playwright-core'
import { assertAccessible, assertFits } from '../../../console/test/support/console.ts'
import { customers } from '../host/customers.js'
import { filters, templates } from '../renderer/queries.js'
import type { Message, ViewMessage } from '../renderer/updates.js'
import {
  assertNothingIsShown,
  change,
  chartOf,
  dashboardIn,
  isFocused,
  openDashboard,
  startExample,
  switchTo,
  tokenHandedOver,
  useExample,
  type RunningExample,
} from './support.ts'

describe('example dashboard', () => {
  const { openPage, example } = useExample()

  it('shows each user group only its own rows, from its own data source', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    const dashboard = await openDashboard(page, example)
    const seen = new Set<string>()
    for (const customer of customers.slice(0, 3)) {
      await switchTo(page, personOf(customer))
      await dashboard.is('shown')
      const rows = await rowsOf(page)
      const expected = productsOf(customer)
      assert.ok(expected.length > 0)
      assert.deepEqual(rows, expected)
      assert.deepEqual(await chartOf(page), monthsOf(customer))
      assert.ok(await isDrawn(page))
      seen.add(JSON.stringify(rows))
    }
    assert.equal(seen.size, 3)
    assert.deepEqual(complaints, [])
  })

  it('shows an empty state without rows', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const dashboard = await openDashboard(opened.page, example, 'East: Eva')
    await dashboard.is('empty')
    await dashboard.frame.getByText('No sales').waitFor()
    assert.equal(await dashboard.rows.count(), 0)
  })

  it('filters by date', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    const dashboard = await openDashboard(page, example)
    const north = customers[0] ?? assert.fail()
    const all = await chartOf(page)
    await dashboard.frame.getByLabel('From').fill('2025-03-10')
    await dashboard.frame.getByLabel('To').fill('2025-04-20')
    await dashboard.frame.getByText('Best month').waitFor()
    await waitForRows(page, productsOf(north, `AND day BETWEEN '2025-03-10' AND '2025-04-20'`))
    assert.deepEqual(await chartOf(page), monthsOf(north, `AND day BETWEEN '2025-03-10' AND '2025-04-20'`))

    await dashboard.frame.getByLabel('From').fill('2025-04-21')
    await dashboard.is('empty')
    // Out of range: ignored, as a year that is being typed.
    await dashboard.frame.getByLabel('To').fill('0202-04-20')
    await dashboard.frame.getByLabel('From').fill('')
    await waitForRows(page, productsOf(north, `AND day <= '2025-04-20'`))
    await dashboard.frame.getByLabel('To').fill('')
    await waitForRows(page, productsOf(north))
    assert.deepEqual(await chartOf(page), all)
    assert.deepEqual(complaints, [])
  })

  it('drills down to the months of a product and back, with the keyboard', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, complaints } = opened
    const dashboard = await openDashboard(page, example)
    const north = customers[0] ?? assert.fail()
    await dashboard.frame.getByLabel('From').fill('2025-11-01')
    await waitForRows(page, productsOf(north, `AND day >= '2025-11-01'`))
    await dashboard.frame.getByRole('button', { name: 'Sensors' }).press('Enter')
    await dashboard.frame.getByText('Revenue of Sensors by month, 2025').waitFor()
    const condition = `AND day >= '2025-11-01' AND product = 'Sensors'`
    const months = monthsOf(north, condition).Hardware ?? []
    assert.equal(months.length, 2)
    assert.deepEqual(await chartOf(page), { Hardware: months })
    const money = moneyOf(north)
    assert.deepEqual(
      (await rowsOf(page)).map(([name, line, , revenue]) => [name, line, revenue]),
      ['November', 'December'].map((name, i) => [name, 'Hardware', money.format(months[i] ?? 0)]),
    )

    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await waitForRows(page, productsOf(north, `AND day >= '2025-11-01'`))
    assert.equal(await dashboard.frame.locator('#table').evaluate(isFocused), true)
    assert.deepEqual(complaints, [])
  })

  it('shows no more by a filter than the properties allow', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    await dashboard.frame.getByRole('button', { name: 'Sensors' }).click()
    await dashboard.frame.getByText('Revenue of Sensors by month, 2025').waitFor()
    const north = customers[0] ?? assert.fail()
    for (const [lines, state] of [
      [['Software'], 'empty'],
      [north.properties.product_lines, 'shown'],
    ] as const) {
      await example.ugs(
        ...['user-group', 'update', 'customer-north', '--environment', 'Customer', '--properties'],
        JSON.stringify({ ...north.properties, product_lines: lines }),
      )
      await dashboard.is(state)
    }
  })

  it('binds filters: none is interpreted as SQL, replaces a variable of the user group or must exist', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const handedOver = tokenHandedOver(opened.page)
    await openDashboard(opened.page, example)
    const token = await handedOver
    for (const [filter, expected] of [
      [{ product: `' OR 1=1 --` }, []],
      [
        { ['__proto__']: 'x', customer_id: 'customer-west', 'user_group.provided_id': 'customer-west' },
        undefined,
      ],
      [{ from: `2025-01-01' OR 1=1 --` }, 'filter.from'],
      [{ from: '2025-02-30' }, 'filter.from'],
    ] as const) {
      const message = await firstMessage(example, token, filter)
      if (typeof expected === 'string') {
        assert.equal(message.type, 'failed')
        assert.match(message.message ?? '', new RegExp(expected))
        assert.doesNotMatch(message.message ?? '', /OR 1=1|02-30/)
      } else {
        const whole = await firstMessage(example, token, {})
        assert.deepEqual(message.view?.byProduct, expected ?? whole.view?.byProduct)
      }
    }
  })

  it('names the customer in every statement', () => {
    for (const template of Object.values(templates)) {
      checkTemplate(template, { dialect: 'sqlite', require: ['user_group.provided_id'], optional: filters })
    }
  })

  it('sends statements only in development, with values apart from the SQL', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const handedOver = tokenHandedOver(page)
    const dashboard = await openDashboard(page, example)
    const { view } = await firstMessage(example, await handedOver, {})
    assert.equal(view && 'statements' in view, false)
    assert.equal(await dashboard.frame.locator('summary').isVisible(), false)

    const developed = await startExample(t, { SHOW_STATEMENTS: '1' })
    const development = await openDashboard(page, developed)
    await development.frame.getByLabel('From').fill('2025-03-10')
    await development.frame.locator('summary').click()
    const statement = development.frame.locator('pre', { hasText: 'date(?)' }).first()
    assert.match(
      await statement.innerText(),
      /customer_id = \?[^]*bound: \["customer-north",[^]*"2025-03-10"\]/,
    )
    assert.doesNotMatch(await statement.innerText(), /filter\.|'/)
  })

  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
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
        t.after(() => example.ugs('user-group', 'resume', 'customer-north', '--environment', 'Customer'))
        await change(page, 'Suspend')
        await dashboard.is('refused')
        await assertUsable()
      })
    }
  }

  it('binds properties: none is interpreted as SQL or HTML, and none may be missing', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example, 'South: Cem')
    const update = (...args: string[]) =>
      example.ugs('user-group', 'update', 'customer-south', '--environment', 'Customer', ...args)
    const properties = (changed: object) =>
      update('--properties', JSON.stringify({ ...customers[1]?.properties, ...changed }))

    await properties({ regions: ["Inland' OR 1=1 --"] })
    await dashboard.is('empty')
    await properties({ product_lines: [] })
    await dashboard.frame.getByText('Regions: Inland ·').waitFor()
    await dashboard.is('empty')

    const markup = `<img src="x" onerror="alert(1)">`
    await properties({})
    await update('--name', markup)
    await dashboard.is('shown')
    await dashboard.frame.getByText(markup).waitFor()
    assert.equal(await dashboard.frame.locator('img').count(), 0)

    await properties({ product_lines: undefined })
    await dashboard.is('failed')
    assert.match(await dashboard.notice.innerText(), /user_group\.properties\.product_lines is not set/)
    await assertNothingIsShown(page)
  })

  it('keeps the token out of URLs, referrers, logs, storage and HTML, and sends no request to other hosts', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page, context, requests, complaints } = opened
    const tokens: string[] = []
    for (const customer of customers.slice(0, 3)) {
      const handedOver = tokenHandedOver(page)
      if (tokens.length === 0) await openDashboard(page, example)
      else await switchTo(page, personOf(customer))
      tokens.push(await handedOver)
      assert.match(tokens.at(-1) ?? '', /^ey[\w.-]+$/)

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
    assertHasNone(example.output(), tokens)
    assert.deepEqual(await context.cookies(), [])
    for (const request of requests) {
      assertHasNone(request.url(), tokens)
      assert.equal(new URL(request.url()).hostname, '127.0.0.1')
      assert.equal((await request.allHeaders()).referer, undefined, request.url())
    }
    assert.ok(requests.some((request) => request.url() === `${example.rendererOrigin}/view`))
    assert.deepEqual(complaints, [])
  })

  it('works with the keyboard alone', async (t) => {
    const opened = await openPage(t)
    if (opened === undefined) return
    const { page } = opened
    const dashboard = await openDashboard(page, example)
    await page.keyboard.press('Tab')
    assert.equal(await page.getByLabel('North: Ada').evaluate(isFocused), true)
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.getByLabel('North: Ben').isChecked(), true)
    await page.keyboard.press('ArrowRight')
    await dashboard.frame.getByRole('heading', { name: 'Sales of Customer South' }).waitFor()
    const buttons = ['End sessions', 'Let in', 'Suspend', 'Resume', 'Change regions']
    for (const name of buttons) {
      await page.keyboard.press('Tab')
      assert.equal(await page.getByRole('button', { name, exact: true }).evaluate(isFocused), true)
    }
    await page.keyboard.press('Tab')
    await dashboard.frame.locator('#refresh:focus').waitFor()
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

describe('Ctrl-C', () => {
  it('stops all processes of the example and leaves nothing behind', async (t) => {
    const example = await startExample(t)
    const origins = [example.hostOrigin, example.rendererOrigin, example.serviceOrigin]
    for (const origin of origins) await fetch(origin)
    assert.equal(await example.stop(), 0)
    for (const origin of origins) await assert.rejects(fetch(origin), `${origin} still responds`)
    assert.throws(() => new Database(join(example.folder, 'warehouse-eu.db'), { fileMustExist: true }))
  })
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

/** Requests a view as the dashboard's page does, and returns its first message. */
async function firstMessage(
  { rendererOrigin }: RunningExample,
  token: string,
  filter: Record<string, string>,
): Promise<Partial<ViewMessage> & { type: Message['type']; message?: string }> {
  const url = `${rendererOrigin}/view?${new URLSearchParams(filter)}`
  const { body } = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  let text = ''
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString('utf8')
    const data = /^data: (.*)\n\n/m.exec(text)?.[1]
    // Leaving the loop closes the connection.
    if (data !== undefined) return JSON.parse(data) as ViewMessage
  }
  return assert.fail('the stream ended')
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
