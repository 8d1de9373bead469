/// <reference lib="dom" />
// Draws a view. Values from the database and the user group are only ever set as text.

/** @typedef {import('../dashboard.js').View} View */
/** @typedef {import('../dashboard.js').Sums} Sums */

const { Chart } = /** @type {{ Chart: typeof import('chart.js').Chart }} */ (
  /** @type {unknown} */ (globalThis)
)
/** Color of each product line, the same for all customers. */
const seriesOf = new Map([
  ['Hardware', 1],
  ['Software', 2],
  ['Services', 3],
])
const darkness = window.matchMedia('(prefers-color-scheme: dark)')
const reducedMotion = window.matchMedia('(prefers-reduced-motion: reduce)')

/** @type {import('chart.js').Chart<'bar', number[], string> | undefined} */
let chart
/** @type {View | undefined} */
let drawn

darkness.addEventListener('change', () => {
  chart?.destroy()
  chart = undefined
  if (drawn) drawChart(drawn)
})

/**
 * @param {View} view
 * @param {string} fingerprint start of the SHA-256 of the view's token
 */
export function draw(view, fingerprint) {
  if (elementOf('token').textContent !== `Token ${fingerprint}…`) {
    // A new element, so that its animation runs.
    elementOf('token').replaceChildren(element('span', `Token ${fingerprint}…`))
  }
  elementOf('refreshed').textContent = `Refreshed ${new Date().toLocaleTimeString('en-GB')}`
  // An unchanged view is not redrawn, so that a tooltip or a selection survives the refresh.
  if (JSON.stringify(view) === JSON.stringify(drawn)) return
  drawn = view
  elementOf('title').textContent = view.title
  elementOf('scope').textContent = view.scope
  elementOf('data-source').textContent = view.dataSource
  drawTiles(view)
  drawTable(view)
  elementOf('all-products').hidden = view.product === null
  drawStatements(view)
  if (view.byMonth.length > 0) drawChart(view)
}

/** Removes the view from the page. */
export function clear() {
  drawn = undefined
  chart?.destroy()
  chart = undefined
  for (const id of [
    'token',
    'refreshed',
    'title',
    'scope',
    'data-source',
    'tiles',
    'chart-title',
    'table-title',
    'row-name',
    'rows',
    'statements',
  ]) {
    elementOf(id).replaceChildren()
  }
}

/** @param {View} view */
function drawTiles(view) {
  const money = moneyOf(view)
  const revenue = sum(view.byMonth, 'revenue_cents')
  const orders = sum(view.byMonth, 'orders')
  const byMonth = monthsOf(view).map((month) => ({
    month,
    revenue: sum(
      view.byMonth.filter((row) => row.month === month),
      'revenue_cents',
    ),
  }))
  const best = byMonth.reduce((a, b) => (b.revenue > a.revenue ? b : a), { month: '', revenue: 0 })
  const tiles = {
    Revenue: money(revenue),
    Orders: orders.toLocaleString('en'),
    'Average order': orders === 0 ? '–' : money(revenue / orders),
    'Best month': best.month === '' ? '–' : monthName(best.month, 'long'),
  }
  elementOf('tiles').replaceChildren(
    ...Object.entries(tiles).map(([name, value]) =>
      element('div', element('dt', name), element('dd', value)),
    ),
  )
}

/**
 * Draws the products, or the months of one product.
 * @param {View} view
 */
function drawTable(view) {
  const money = moneyOf(view)
  const total = sum(view.byProduct, 'revenue_cents')
  elementOf('table-title').textContent = view.product === null ? 'Products' : `${view.product} by month`
  elementOf('row-name').textContent = view.product === null ? 'Product' : 'Month'
  const rows =
    view.product === null
      ? view.byProduct.map((row) => ({ ...row, name: productButton(row.product) }))
      : view.byMonth.map((row) => ({ ...row, name: monthName(row.month, 'long') }))
  elementOf('rows').replaceChildren(
    ...rows.map((row) => {
      const share = row.revenue_cents / total
      const meter = /** @type {HTMLMeterElement} */ (element('meter'))
      meter.value = share
      meter.ariaHidden = 'true'
      const tableRow = element(
        'tr',
        cell('', row.name),
        cell('line', row.product_line),
        cell('number', row.orders.toLocaleString('en')),
        cell('number', money(row.revenue_cents)),
        cell('share', meter, element('span', `${(100 * share).toFixed(1)} %`)),
      )
      tableRow.dataset.series = String(seriesOf.get(row.product_line) ?? 1)
      return tableRow
    }),
  )
}

/** @param {View} view */
function drawStatements({ statements = [] }) {
  elementOf('statements-panel').hidden = statements.length === 0
  elementOf('statements').replaceChildren(
    ...statements.map(({ text, values }) => element('pre', `${text}\n\n-- bound: ${JSON.stringify(values)}`)),
  )
}

/** @param {View} view */
function drawChart(view) {
  const months = monthsOf(view)
  const lines = [...new Set(view.byMonth.map(({ product_line }) => product_line))]
  const data = {
    labels: months.map((month) => monthName(month, 'short')),
    datasets: lines.map((line, index) => ({
      label: line,
      data: months.map(
        (month) =>
          (view.byMonth.find((row) => row.month === month && row.product_line === line)?.revenue_cents ?? 0) /
          100,
      ),
      backgroundColor: color(`--series-${seriesOf.get(line) ?? 1}`),
      borderColor: color('--surface'),
      borderWidth: { top: index < lines.length - 1 ? 2 : 0 },
      borderRadius: index === lines.length - 1 ? { topLeft: 4, topRight: 4 } : 0,
      maxBarThickness: 44,
    })),
  }
  chart?.destroy()
  const subject = view.product === null ? 'Revenue' : `Revenue of ${view.product}`
  elementOf('chart-title').textContent = `${subject} by month, ${months[0]?.slice(0, 4)}`
  const money = moneyOf(view)
  const text = {
    color: color('--muted'),
    font: { family: getComputedStyle(document.body).fontFamily, size: 12 },
  }
  chart = new Chart(/** @type {HTMLCanvasElement} */ (elementOf('chart')), {
    type: 'bar',
    data,
    options: {
      animation: reducedMotion.matches ? false : { duration: 350 },
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: {
          stacked: true,
          grid: { display: false },
          border: { color: color('--line') },
          ticks: { ...text, maxRotation: 0 },
        },
        y: {
          stacked: true,
          grid: { color: color('--line') },
          border: { display: false },
          ticks: { ...text, maxTicksLimit: 6, callback: (value) => money(100 * Number(value), true) },
        },
      },
      plugins: {
        legend: {
          align: 'end',
          labels: {
            ...text,
            boxWidth: 10,
            boxHeight: 10,
            useBorderRadius: true,
            borderRadius: 3,
            padding: 16,
          },
        },
        tooltip: {
          callbacks: { label: ({ dataset, parsed }) => ` ${dataset.label}: ${money(100 * (parsed.y ?? 0))}` },
        },
      },
    },
  })
}

/**
 * Returns a formatter for the view's amounts.
 * @param {View} view
 * @returns {(cents: number, compact?: boolean) => string}
 */
function moneyOf({ currency }) {
  const style = currency === null ? {} : /** @type {const} */ ({ style: 'currency', currency })
  const whole = new Intl.NumberFormat('en', { ...style, maximumFractionDigits: 0 })
  const compact = new Intl.NumberFormat('en', { ...style, notation: 'compact', maximumFractionDigits: 1 })
  return (cents, isCompact = false) => (isCompact ? compact : whole).format(cents / 100)
}

/** @param {View} view */
function monthsOf({ byMonth }) {
  return [...new Set(byMonth.map(({ month }) => month))]
}

/**
 * @param {string} month 2025-01
 * @param {'short' | 'long'} style
 */
function monthName(month, style) {
  return new Date(`${month}-01T00:00:00Z`).toLocaleString('en', { month: style, timeZone: 'UTC' })
}

/**
 * @template {keyof Sums} Name
 * @param {readonly Record<Name, number>[]} rows
 * @param {Name} name
 */
function sum(rows, name) {
  return rows.reduce((total, row) => total + row[name], 0)
}

/** @param {string} variable variable of the style sheet */
function color(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable)
}

/** @param {string} product */
function productButton(product) {
  const button = /** @type {HTMLButtonElement} */ (element('button', product))
  button.type = 'button'
  button.title = `Show ${product} by month`
  return button
}

/**
 * @param {string} className
 * @param {...(string | Node)} content
 */
function cell(className, ...content) {
  const td = element('td', ...content)
  td.className = className
  return td
}

/**
 * @param {string} name
 * @param {...(string | Node)} content
 */
function element(name, ...content) {
  const node = document.createElement(name)
  node.append(...content)
  return node
}

/** @param {string} id */
function elementOf(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}
