import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import {
  by,
  leaving,
  newApiToken,
  newUserGroup,
  now,
  outcomeOf,
  tenantScope,
} from '../contract/audit-events.ts'
import { changes } from '../contract/audited-changes.ts'
import { eachLoss, losing } from './losing-connections.ts'
import { openPostgres, openProxied } from './postgres-support.ts'
import { freshKey, newWorkspace } from '../contract/store-fixtures.ts'

/** What makes a change final: the end of its transaction, or the one statement that it is. */
const finish = /^COMMIT|^WITH .*INSERT INTO audit_event/s
/** With what the repetition of either begins. */
const repetition = /^BEGIN|^WITH .*INSERT INTO audit_event/s

describe('PostgreSQL: the event of a change in doubt', () => {
  for (const [what, prepare] of Object.entries(changes)) {
    eachLoss(`is there once: ${what}`, async (t, lose) => {
      const { store, proxy } = await openProxied(t)
      const { change, events, nothing } = await prepare(store)
      const { events: left } = await leaving(store, () => losing(proxy, finish, lose, change, repetition))
      assert.deepEqual(left, await events())
      for (const [how, [comesTo, work]] of Object.entries(nothing)) {
        const { events: more, result } = await leaving(store, work)
        assert.deepEqual([outcomeOf(result), more], [comesTo, []], how)
      }
    })
  }

  eachLoss('is there once: the first API tokens', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const tokens = [newApiToken(), newApiToken({ environment: 'Customer' })]
    const { events } = await leaving(store, () =>
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

  eachLoss('is there once: a pruning of more than one turn', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const workspace = await store.workspaces.create(newWorkspace('pruned'))
    const where = { ...tenantScope, workspaceId: workspace?.workspace.id ?? 0 }
    const old = Array.from({ length: 1500 }, () => newUserGroup({ key: { ...freshKey(), ...where } }))
    await store.userGroups.getOrCreateMany(old)
    const { events } = await leaving(store, () =>
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

  it('is of the creation, and of the change that came between, once each', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = newUserGroup({ ...by, now })
    const { events } = await leaving(store, () =>
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
    // The repetition finds another name, and sets its own: three changes were made.
    assert.deepEqual(events.map(({ action }) => action).sort(), [
      'user_group.created',
      'user_group.updated',
      'user_group.updated',
    ])
  })
})

/** One that asks these in turn, each call another. */
function inTurn(...stores: readonly [Store, Store]): Store {
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

describe('PostgreSQL: two processes at once', () => {
  for (const [what, prepare] of Object.entries(changes)) {
    it(`tell of ${what} once`, async (t) => {
      const { store, url } = await openProxied(t)
      const { change, events } = await prepare(inTurn(store, await openPostgres(t, url)))
      const { events: left } = await leaving(store, () =>
        Promise.all(Array.from({ length: 16 }, () => change())),
      )
      assert.deepEqual(left, await events())
    })
  }
})
