import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Environment } from '../../../src/domain/environment.ts'
import type { DatabaseProxy } from '../../support/database-proxy.ts'
import { created, creation, openPostgres, openProxied, rotation, statements } from './postgres-support.ts'
import { count, freshKey, referenceOf, newWorkspace, origin, plain } from '../contract/store-fixtures.ts'

const many = Array.from({ length: 200 }, (_, i) => i)

/** Returns the number of statements that `work` sends. */
async function statementsOf(proxy: DatabaseProxy, work: () => Promise<unknown>): Promise<number> {
  const before = proxy.statements.length
  await work()
  return proxy.statements.length - before
}

/** Maximum number of statements for 200 operations, including those of new connections. */
const few = 20

describe('PostgreSQL: 200 operations at once', () => {
  it('create with a few statements', async (t) => {
    const { store, proxy } = await openProxied(t)
    const made = await statementsOf(proxy, async () => {
      const results = await Promise.all(many.map(() => store.userGroups.getOrCreate(creation())))
      assert.deepEqual(count(results), { created: many.length })
    })
    assert.ok(made <= few, `${made} statements`)
  })

  it('read, change and rotate different user groups with a few statements', async (t) => {
    const { store, proxy } = await openProxied(t)
    const groups = await Promise.all(many.map(() => created(store)))
    const read = await statementsOf(proxy, async () => {
      const found = await Promise.all(groups.map((group) => store.userGroups.find(group)))
      assert.deepEqual(plain(found), plain(groups))
    })
    const changed = await statementsOf(proxy, async () => {
      const results = await Promise.all(
        groups.map((key, i) =>
          store.userGroups.update({ key, change: { name: `N${i}` }, ...origin, now: 3000 }),
        ),
      )
      assert.deepEqual(
        results.map((result) => 'userGroup' in result && result.userGroup.name),
        many.map((i) => `N${i}`),
      )
    })
    const rotated = await statementsOf(proxy, async () => {
      const results = await Promise.all(groups.map(({ token }) => store.userGroups.rotate(rotation(token))))
      assert.deepEqual(
        results.map((result) => 'userGroup' in result && result.userGroup.teamId),
        groups.map(({ teamId }) => teamId),
      )
    })
    const owned = await statementsOf(proxy, async () => {
      const owners = await Promise.all(
        groups.map(({ token }) => store.userGroups.findByToken(1, 'Customer', referenceOf(token), 1999)),
      )
      assert.deepEqual(
        owners.map((owner) => owner?.userGroup.teamId),
        groups.map(({ teamId }) => teamId),
      )
    })
    assert.ok(Math.max(read, changed, rotated, owned) <= few, [read, changed, rotated, owned].join())
  })

  it('look up different API tokens with a few statements', async (t) => {
    const { store, proxy } = await openProxied(t)
    const hashes = many.map(() => randomBytes(32))
    const made = await Promise.all(
      hashes.map((tokenHash, i) =>
        store.apiTokens.create({
          ...origin,
          tokenHash,
          workspaceId: 1,
          environment: 'Testing',
          name: `N${i}`,
          scopes: ['read'],
          createdAt: 1,
          expiresAt: null,
        }),
      ),
    )
    const before = proxy.count(statements.findApiToken)
    assert.deepEqual(await Promise.all(hashes.map((hash) => store.apiTokens.find(hash))), made)
    assert.ok(proxy.count(statements.findApiToken) - before <= few)
  })

  it('on one user group share a read', async (t) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store)
    const read = await statementsOf(proxy, async () => {
      const results = await Promise.all(
        many.map(() => store.userGroups.getOrCreate(creation({ key: group, change: {} }))),
      )
      assert.deepEqual(count(results), { unchanged: many.length })
    })
    assert.ok(read <= few, `${read} statements`)
  })

  it('on one user group change it one after another', async (t) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store)
    const some = many.slice(0, 20)
    const results = await Promise.all(
      some.map((i) =>
        store.userGroups.update({ key: group, change: { name: `N${i}` }, ...origin, now: 3000 }),
      ),
    )
    assert.deepEqual(
      results.map((result) => 'userGroup' in result && result.userGroup.name),
      some.map((i) => `N${i}`),
    )
    assert.equal(proxy.count(statements.update), some.length)
  })

  it('rotate one token once', async (t) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store)
    const results = await Promise.all(many.map(() => store.userGroups.rotate(rotation(group.token))))
    assert.deepEqual(count(results), { rotated: 1, superseded: many.length - 1 })
    assert.ok(proxy.count(statements.rotate) <= many.length)
  })

  it('do not mix workspaces and environments', async (t) => {
    const { store, proxy } = await openProxied(t)
    const other = await store.workspaces.create(newWorkspace('other'))
    assert.ok(other)
    const tenantScopes = [
      [1, 'Customer'],
      [1, 'Testing'],
      [other.workspace.id, 'Customer'],
    ] as const satisfies [number, Environment][]
    const keys = many.map((i) => {
      const [workspaceId, environment] = tenantScopes[i % 3] ?? tenantScopes[0]
      return { workspaceId, environment, providedId: `id-${Math.floor(i / 3)}` }
    })
    const made = await statementsOf(proxy, async () => {
      const groups = await Promise.all(keys.map((key) => created(store, { key })))
      assert.equal(new Set(groups.map(({ teamId }) => teamId)).size, many.length)
      groups.forEach(({ workspaceId, environment, providedId }, i) =>
        assert.deepEqual({ workspaceId, environment, providedId }, keys[i]),
      )
    })
    assert.ok(made <= tenantScopes.length * few, `${made} statements`)
  })
})

describe('PostgreSQL: an operation that arrives while statements are in flight', () => {
  it('shares the next statement with the other operations', async (t) => {
    const { store, proxy } = await openProxied(t)
    const [first, second, ...groups] = await Promise.all(many.map(() => created(store)))
    assert.ok(first && second)
    const caught = []
    const results = []
    for (const group of [first, second]) {
      const next = proxy.next(statements.find)
      results.push(store.userGroups.find(group))
      caught.push(await next)
    }
    const before = proxy.count(statements.find)
    const others = groups.map((group) => store.userGroups.find(group))
    for (const statement of caught) statement.pass()
    assert.deepEqual(plain(await Promise.all(results)), plain([first, second]))
    assert.deepEqual(plain(await Promise.all(others)), plain(groups))
    assert.ok(proxy.count(statements.find) - before <= few)
  })

  it('does not get their results', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const next = proxy.next(statements.find)
    const before = store.userGroups.find(group)
    const caught = await next
    // The server has run the statement, but its result has not arrived yet.
    const changed = await other.userGroups.update({ key: group, change: { name: 'B' }, ...origin, now: 3000 })
    assert.equal(changed.outcome, 'updated')
    assert.equal((await store.userGroups.find(group))?.name, 'B')
    caught.pass()
    assert.notEqual(await before, null)
  })

  it('creates a user group once together with them', async (t) => {
    const { store, proxy } = await openProxied(t)
    const key = freshKey()
    const next = proxy.next(statements.createUserGroup)
    const first = store.userGroups.getOrCreate(creation({ key }))
    const caught = await next
    const second = store.userGroups.getOrCreate(creation({ key }))
    const inserts = proxy.next(statements.createUserGroup)
    const repeated = await inserts
    caught.pass()
    repeated.pass()
    const results = [await first, await second]
    assert.deepEqual(count(results), { created: 1, unchanged: 1 })
    const tokens = results.map((result) => 'userGroup' in result && plain(result.userGroup.token))
    assert.deepEqual(tokens[0], tokens[1])
  })
})
