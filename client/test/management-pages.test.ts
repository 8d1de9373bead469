import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { UserGroupManagement } from '../src/index.ts'
import { apiToken, transportFailure } from './support/client.ts'
import { startHttpProxy } from './support/http-proxy.ts'
import { allOf, sharedManagement } from './support/management.ts'
import { describeManagements } from './support/managements.ts'
import { json, serve } from './support/scripted-server.ts'

describe('several thousand user groups', () => {
  const fixture = sharedManagement()
  const count = 5000
  // Large enough that a search needs more than one page.
  const numbers = Object.fromEntries(Array.from({ length: 280 }, (_, i) => [`number-${i}`, i * 1.5]))
  const rare = [4500, 4999]
  const largest = 160

  before(async () => {
    const { management } = await fixture()
    const rows = Array.from({ length: count }, (_, i) => ({
      userGroupId: `customer-${i}`,
      name: i < largest ? `Large ${i}` : `Customer ${i}`,
      properties: {
        ...(i < largest ? { text: 'x'.repeat(60_000) } : numbers),
        ...(rare.includes(i) && { rare: true }),
      },
    }))
    for await (const { outcome } of management.importUserGroups(rows)) assert.equal(outcome, 'created')
  })

  it('search continues after empty pages', async () => {
    const { management } = await fixture()
    const search = management.searchUserGroups({ property: '/rare', propertyValue: true })
    const first = await search.page()
    const found = await allOf(search)
    assert.deepEqual(
      found.map(({ providedId }) => providedId).sort(),
      rare.map((i) => `customer-${i}`),
    )
    // The first page must be empty for this test.
    assert.deepEqual(first.items, [])
    assert.notEqual(first.nextCursor, null)
  })

  it('list every user group once, sorted by team id', async () => {
    const { management } = await fixture()
    const search = management.searchUserGroups({ name: 'customer', limit: 200 })
    const all = await allOf(search)
    assert.equal(new Set(all.map(({ providedId }) => providedId)).size, count - largest)
    assert.equal(all.length, count - largest)
    assert.ok(all.every(({ teamId }, i) => i === 0 || teamId > (all[i - 1]?.teamId ?? 0)))
    // Manual paging returns the same items.
    const paged: string[] = []
    let cursor: string | null = null
    do {
      const page = await search.page(cursor)
      paged.push(...page.items.map(({ providedId }) => providedId))
      cursor = page.nextCursor
    } while (cursor !== null)
    assert.deepEqual(
      paged,
      all.map(({ providedId }) => providedId),
    )
  })

  it('return full pages of large user groups: 9 MB', async () => {
    const { management } = await fixture()
    const { items } = await management.searchUserGroups({ userGroupIdPrefix: 'customer-', limit: 200 }).page()
    const large = await management.searchUserGroups({ name: 'large', limit: 200 }).page()
    assert.equal(items.length, 200)
    assert.equal(large.items.length, largest)
    assert.ok(JSON.stringify(large.items).length > 9_000_000)
  })

  it('request no more pages once the loop is left', async (t) => {
    const { service, over } = await fixture()
    const proxy = await startHttpProxy(t, service.origin)
    const names: string[] = []
    for await (const { name } of over(proxy.origin).searchUserGroups({ name: 'customer', limit: 10 })) {
      names.push(name)
      if (names.length === 11) break
    }
    assert.equal(proxy.passed.length, 2)
  })

  it('list deleted user groups page by page', async () => {
    const { management } = await fixture()
    const { items } = await management.searchUserGroups({ limit: 5 }).page()
    for (const { teamId } of items) await management.deleteUserGroup(teamId)
    const list = management.listDeletedUserGroups({ limit: 2 })
    assert.deepEqual(
      (await allOf(list)).map(({ teamId }) => teamId),
      items.map(({ teamId }) => teamId),
    )
    assert.equal((await list.page()).items.length, 2)
  })
})

const page = (next: string | null) => json({ success: 1, user_groups: [], next_cursor: next })

describeManagements('list', ({ managementOf }) => {
  it('continues after empty pages, with the previous cursor and the same search', async (t) => {
    const { origin, received } = await serve(t, page('a&b'), page('c'), page(null))
    const list = managementOf({ origin, apiToken }).searchUserGroups({ name: 'ä b', limit: 3 })
    assert.deepEqual(await allOf(list), [])
    const search = 'name=%C3%A4%20b&limit=3'
    assert.deepEqual(
      received.map(({ path }) => path.replace('/admin/v1/user-groups?', '')),
      [search, `${search}&cursor=a%26b`, `${search}&cursor=c`],
    )
    // Every iteration starts from the first page.
    assert.deepEqual(await allOf(list), [])
    assert.equal(received.at(-1)?.path, `/admin/v1/user-groups?${search}`)
  })

  it('fails with bad_response if a cursor repeats', async (t) => {
    const { origin, received } = await serve(t, page('again'))
    const error = await transportFailure(allOf(managementOf({ origin, apiToken }).searchUserGroups()))
    assert.deepEqual([error.code, received.length], ['bad_response', 2])
  })
})

describe('list', () => {
  const over = (origin: string) => new UserGroupManagement({ origin, apiToken })

  it('sends no request before it is iterated', async (t) => {
    const { origin, received } = await serve(t, page(null))
    over(origin).searchUserGroups()
    over(origin).listDeletedUserGroups()
    over(origin).listIsolationFindings()
    over(origin).listDataSources()
    assert.equal(received.length, 0)
  })

  it('stops when the signal is aborted', async (t) => {
    const abortion = new AbortController()
    const reason = new Error('gone')
    const { origin, received } = await serve(t, page('a'), () => abortion.abort(reason))
    const list = over(origin).searchUserGroups({}, { signal: abortion.signal })
    await assert.rejects(allOf(list), reason)
    assert.equal(received.length, 2)
  })
})
