import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { focused, sharedConsole } from './support/console.ts'

const rowCount = 10_000

/** Responds as a service with 10,000 user groups. */
async function fillList(page: Page): Promise<void> {
  await page.route('**/admin/v1/user-groups?*', (route) => {
    const query = new URL(route.request().url()).searchParams
    const start = Number(query.get('cursor') ?? '0')
    const end = Math.min(start + Number(query.get('limit')), rowCount)
    return route.fulfill({
      json: {
        success: 1,
        user_groups: Array.from({ length: end - start }, (_, i) => userGroup(start + i + 1)),
        next_cursor: end < rowCount ? String(end) : null,
        total: { count: rowCount, is_exact: true },
      },
    })
  })
}

function userGroup(id: number) {
  const time = new Date(1_790_000_000_000 - id * 3_600_000).toISOString()
  return {
    team_id: id,
    provided_id: `customer-${id}`,
    name: `Example customer ${id}`,
    api_environment_tag: 'Customer',
    mapping: { sales: `warehouse-${id}` },
    properties: null,
    suspended_at: id % 7 === 0 ? time : null,
    created_at: time,
    updated_at: time,
    token_issued_at: time,
    revision: 1,
    health: { mapping_entries: 1, unresolved_entries: id % 5 === 0 ? 1 : 0, last_introspected_at: time },
  }
}

/** Scrolls to the end of the list as it loads, and returns the greatest number of nodes. */
const scrolling = `(async () => {
  const last = () => Array.from(document.querySelectorAll('tr[aria-rowindex]')).at(-1).ariaRowIndex - 1
  let most = 0
  while (last() < ${rowCount}) {
    scrollTo(0, document.documentElement.scrollHeight)
    await new Promise(requestAnimationFrame)
    most = Math.max(most, document.querySelectorAll('*').length)
  }
  return most
})()`

describe('long lists', () => {
  const running = sharedConsole()

  it('renders the visible rows of 10,000, and keeps the focused one', async (t) => {
    const page = await running().open(t)
    if (page === undefined) return
    await fillList(page)
    await page.reload()
    const table = page.getByRole('table', { name: 'User groups', exact: true })
    await table.waitFor()
    await page.getByLabel('Select Example customer 3', { exact: true }).check()
    const most = await page.evaluate<number>(scrolling)
    assert.ok(most < 2000, `${most} nodes`)
    assert.equal(await table.getAttribute('aria-rowcount'), String(rowCount + 1))
    await page.getByRole('link', { name: 'Example customer 10000' }).waitFor()
    // The row that has the focus stays, so that Tab continues after it.
    assert.equal(await focused(page), 'Select Example customer 3')
    assert.ok(await page.getByLabel('Select Example customer 3', { exact: true }).isChecked())
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'Example customer 3')
  })
})
