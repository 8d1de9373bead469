import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import {
  by,
  recordedEvents,
  newApiToken,
  newUserGroup,
  now,
  outcomeOf,
  tenantScope,
} from '../contract/audit-events.ts'
import { changes } from '../contract/audited-changes.ts'
import { eachLoss, losing } from './losing-connections.ts'
import { openPostgres, openProxied, suiteScope } from './postgres-support.ts'
import { freshKey, newWorkspace } from '../contract/store-fixtures.ts'

const singleStatement = '^WITH .*INSERT INTO audit_event|^SELECT (create|change|replace|end|delete|restore)_'
/** Statement that commits a change: COMMIT, or a change in a single statement. */
const finish = new RegExp(`^COMMIT|${singleStatement}`, 's')
/** First statement of the retry of a change. */
const repetition = new RegExp(`^BEGIN|${singleStatement}`, 's')

/** Most tests share a store, which is faster than a store for each. */
const shared = await openProxied(suiteScope())

describe('PostgreSQL: the audit event of a change with an ambiguous commit', () => {
  for (const [title, prepare] of Object.entries(changes)) {
    eachLoss(`is recorded once: ${title}`, async (_, lose) => {
      const { store, proxy } = shared
      const { change, events, nothing } = await prepare(store)
      const { events: left } = await recordedEvents(store, () =>
        losing(proxy, finish, lose, change, repetition),
      )
      assert.deepEqual(left, await events())
      for (const [how, [comesTo, work]] of Object.entries(nothing)) {
        const { events: more, result } = await recordedEvents(store, work)
        assert.deepEqual([outcomeOf(result), more], [comesTo, []], how)
      }
    })
  }

  eachLoss('is recorded once: creating the first API tokens', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const tokens = [newApiToken(), newApiToken({ environment: 'Customer' })]
    const { events } = await recordedEvents(store, () =>
      losing(proxy, /^COMMIT/, lose, () => store.apiTokens.createFirst(tokens), /^BEGIN/),
    )
    assert.deepEqual(
      events.map(({ action, environment }) => [action, environment]),
      [
        ['api_token.created', 'Customer'],
        ['api_token.created', 'Testing'],
      ],
    )
  })

  eachLoss('is recorded once: pruning the audit log in several batches', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const workspace = await store.workspaces.create(newWorkspace('pruned'))
    const where = { ...tenantScope, workspaceId: workspace?.workspace.id ?? 0 }
    const old = Array.from({ length: 1500 }, () => newUserGroup({ key: { ...freshKey(), ...where } }))
    await store.userGroups.getOrCreateMany(old)
    const { events } = await recordedEvents(store, () =>
      losing(
        proxy,
        /^COMMIT/,
        lose,
        () => store.audit.prune({ ...where, before: 5000, ...by, now }),
        /^BEGIN/,
      ),
    )
    assert.deepEqual(
      events.map(({ action }) => action),
      ['audit_log.pruned'],
    )
  })

  it('is recorded once for a creation and for a change in between', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = newUserGroup({ ...by, now })
    const { events } = await recordedEvents(store, () =>
      losing(
        proxy,
        finish,
        async (caught) => {
          await caught.run()
          await other.userGroups.update({ key: group.key, change: { name: 'B' }, ...by, now: now + 1 })
          caught.cutOff()
        },
        () => store.userGroups.getOrCreate(group),
      ),
    )
    // The retry finds another name and changes it back, which makes three changes.
    assert.deepEqual(events.map(({ action }) => action).sort(), [
      'user_group.created',
      'user_group.updated',
      'user_group.updated',
    ])
  })
})

/** Returns a store that forwards operations to these stores in turn. */
function alternating(...stores: readonly [Store, Store]): Store {
  let calls = 0
  type Port = Record<string, (...args: unknown[]) => unknown>
  const portOf = (port: string): Port =>
    new Proxy<Port>(
      {},
      {
        get:
          (_, method: string) =>
          (...args: unknown[]) => {
            const store = stores[calls++ % stores.length] as unknown as Record<string, Port>
            return store[port]?.[method]?.(...args)
          },
      },
    )
  return new Proxy(stores[0], { get: (_, port: string) => portOf(port) })
}

describe('PostgreSQL: two processes at once', async () => {
  const { store, url } = shared
  const other = await openPostgres(suiteScope(), url)
  for (const [title, prepare] of Object.entries(changes)) {
    it(`record ${title} once`, async () => {
      const { change, events } = await prepare(alternating(store, other))
      const { events: left } = await recordedEvents(store, () =>
        Promise.all(Array.from({ length: 16 }, () => change())),
      )
      assert.deepEqual(left, await events())
    })
  }
})
