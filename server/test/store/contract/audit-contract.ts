import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import type { UserGroupChange } from '../../../src/domain/user-group/user-group.ts'
import {
  by,
  event,
  eventOf,
  recordedEvents,
  createUserGroup,
  newApiToken,
  newKey,
  newUserGroup,
  now,
  outcomeOf,
  tenantScope,
} from './audit-events.ts'
import { changes } from './audited-changes.ts'
import { describeAuditLists } from './audit-lists-contract.ts'
import { count, freshKey, referenceOf, mint, actor, noneExpired } from './store-fixtures.ts'

/** Tests the audit events that a store records for its changes. */
export function describeAudit(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: audit events`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    for (const [title, prepare] of Object.entries(changes)) {
      it(`${title} is recorded once, and an operation without effect is not`, async () => {
        const { change, events, nothing } = await prepare(store)
        const left = await recordedEvents(store, change)
        assert.deepEqual(left.events, await events())
        for (const [how, [comesTo, work]] of Object.entries(nothing)) {
          const { events: more, result } = await recordedEvents(store, work)
          assert.deepEqual([outcomeOf(result), more], [comesTo, []], how)
        }
      })

      it(`${title} is recorded once when several requests do it at once`, async () => {
        const { change, events } = await prepare(store)
        // Requests may fail, but only one of them may succeed.
        const { events: left } = await recordedEvents(store, () =>
          Promise.allSettled(Array.from({ length: 16 }, change)),
        )
        assert.deepEqual(left, await events())
      })
    }

    it('a batch of user groups is recorded with one event per changed user group', async () => {
      const [changed, unchanged] = [await createUserGroup(store), await createUserGroup(store)]
      const [first, second] = [newKey(), newKey()]
      const get = (
        key = newKey(),
        change: UserGroupChange = { name: 'A' },
        requestId: string | null = null,
      ) => newUserGroup({ key, change, author: 'cli:importer', requestId, now })
      const { events, result } = await recordedEvents(store, () =>
        store.userGroups.getOrCreateMany([
          get(first),
          get(changed, { name: 'B', properties: '{}' }, 'request-2'),
          get(unchanged),
          get(second),
          get(first),
          get(newKey(), {}),
        ]),
      )
      assert.deepEqual(count(result), { created: 2, updated: 1, unchanged: 2, name_required: 1 })
      const groups = await Promise.all([first, second].map((key) => store.userGroups.find(key)))
      const expected = [
        eventOf('user_group.updated', changed, { changed_fields: ['name', 'properties'] }),
        ...groups.flatMap((group) => (group === null ? [] : [eventOf('user_group.created', group)])),
      ].map((one) => ({
        ...one,
        author: 'cli:importer',
        requestId: one.userGroup?.teamId === changed.teamId ? 'request-2' : null,
      }))
      const inOrder = (list: typeof expected) =>
        list.map((one) => JSON.stringify(one, Object.keys(one).sort())).sort()
      assert.equal(events.length, 3)
      assert.deepEqual(inOrder(events), inOrder(expected))
    })

    it('the event of an update names the changed fields and no others', async () => {
      const before = { name: 'A', mapping: '{"a":"b"}', properties: '{"p":1}' }
      const cases: [sent: UserGroupChange, ...changed: string[]][] = [
        [{ name: 'B' }, 'name'],
        [{ mapping: '{"a":"c"}' }, 'mapping'],
        [{ mapping: null }, 'mapping'],
        [{ properties: '{"p":2}' }, 'properties'],
        [{ properties: null }, 'properties'],
        [{ ...before, name: 'B' }, 'name'],
        [{ ...before, mapping: null }, 'mapping'],
        [{ ...before, properties: '{"p":2}' }, 'properties'],
        [{ mapping: null, properties: null }, 'mapping', 'properties'],
        [{ name: 'B', mapping: '{"a":"c"}', properties: '{"p":2}' }, 'name', 'mapping', 'properties'],
      ]
      for (const [change, ...changed_fields] of cases) {
        const [updated, got] = [
          await createUserGroup(store, { change: before }),
          await createUserGroup(store, { change: before }),
        ]
        const { events } = await recordedEvents(store, async () => {
          await store.userGroups.update({ key: updated, change, ...by, now })
          await store.userGroups.getOrCreate(newUserGroup({ key: got, change, ...by, now }))
        })
        assert.deepEqual(
          events,
          [got, updated].map((group) => eventOf('user_group.updated', group, { changed_fields })),
          JSON.stringify(change),
        )
      }
    })

    it('the event of an update names fields that had no value before', async () => {
      const group = await createUserGroup(store)
      const change = { name: 'A', mapping: '{"a":"b"}', properties: '{"p":1}' }
      const { events } = await recordedEvents(store, () =>
        store.userGroups.update({ key: group, change, ...by, now }),
      )
      const details = { changed_fields: ['mapping', 'properties'] }
      assert.deepEqual(events, [eventOf('user_group.updated', group, details)])
    })

    it('simultaneous updates of one user group are recorded once per change', async () => {
      const group = await createUserGroup(store)
      const { events } = await recordedEvents(store, () =>
        Promise.all(
          Array.from({ length: 24 }, (_, i) =>
            store.userGroups.update({ key: group, change: { name: `N${i % 6}` }, ...by, now }),
          ),
        ),
      )
      const { revision = 0 } = (await store.userGroups.find(group)) ?? {}
      assert.equal(events.length, revision - group.revision)
    })

    it('a rotation by id is recorded with its author and grace period', async () => {
      for (const seconds of [0, 604_800]) {
        const group = await createUserGroup(store)
        const { events } = await recordedEvents(store, () =>
          store.userGroups.rotate({
            ...{ ...tenantScope, target: { providedId: group.providedId }, issueToken: mint },
            ...{ oldTokenValidUntil: now + seconds * 1000, author: 'api_token:7', requestId: null, now },
          }),
        )
        const details = { grace_period_seconds: seconds }
        const expected = eventOf('user_group.token_rotated', group, details)
        assert.deepEqual(events, [{ ...expected, author: 'api_token:7', requestId: null }])
      }
    })

    it('the end of a grace period is recorded only in its own environment and workspace', async () => {
      const group = await createUserGroup(store)
      const token = referenceOf(group.token)
      const target = { token }
      await store.userGroups.rotate({
        ...{ ...tenantScope, target, oldTokenValidUntil: now + 5, issueToken: mint, ...actor, now: 2000 },
      })
      for (const other of [{ workspaceId: 2 }, { environment: 'Customer' }] as const) {
        const { events } = await recordedEvents(store, () =>
          store.userGroups.endGracePeriod({ ...tenantScope, ...other, token, ...by, now }),
        )
        assert.deepEqual(events, [])
      }
      const { events: late } = await recordedEvents(store, () =>
        store.userGroups.endGracePeriod({ ...tenantScope, token, ...by, now: now + 5 }),
      )
      assert.deepEqual(late, [])
      assert.equal((await store.userGroups.findByToken(1, 'Testing', token, now))?.validUntil, now + 5)
    })

    it('the revocation of an API token is recorded in the workspace and environment of the token', async () => {
      const created = await store.workspaces.create({
        ...{ name: freshKey().providedId, createdAt: 1000, environment: 'Customer', ...actor },
      })
      const where = { workspaceId: created?.workspace.id ?? 0, environment: 'Customer' } as const
      const { id } = await store.apiTokens.create(newApiToken({ ...where, ...actor, createdAt: 1000 }))
      const { events } = await recordedEvents(store, () => store.apiTokens.revoke({ id, ...by, now }))
      const details = { api_token_id: id, name: 'A "token"' }
      assert.deepEqual(events, [event('api_token.revoked', { ...where, details })])
    })

    it('each of the first API tokens is recorded once', async () => {
      const fresh = await openFreshStore()
      try {
        const tokens = (['Customer', 'Testing'] as const).map((environment) =>
          newApiToken({ environment, requestId: null }),
        )
        const others = () => tokens.map((token) => ({ ...token, tokenHash: randomBytes(32) }))
        const { events, result } = await recordedEvents(fresh, () =>
          Promise.all([tokens, others(), others()].map((some) => fresh.apiTokens.createFirst(some))),
        )
        assert.deepEqual(
          result.filter((isFirst) => isFirst),
          [true],
        )
        const kept = await fresh.apiTokens.list()
        assert.deepEqual(
          events,
          kept.map(({ id, environment, name, scopes }) =>
            event('api_token.created', {
              ...{ environment, requestId: null },
              details: { api_token_id: id, name, scopes, expires_at: null },
            }),
          ),
        )
        assert.equal(events.length, 2)
      } finally {
        await fresh.close()
      }
    })

    it('reads and bookkeeping are not recorded', async () => {
      const group = await createUserGroup(store)
      const { providedId, token } = group
      const key = { ...tenantScope, providedId }
      const { events } = await recordedEvents(store, async () => {
        await store.userGroups.find(key)
        await store.userGroups.findByToken(1, 'Testing', referenceOf(token), now)
        await store.introspections.record([{ workspaceId: 1, ...locationOf(group), introspectedAt: now }])
        await store.secretKeys.addCheck({ keyId: 'k', sealed: randomBytes(4) })
        await deleteExpired(store, { ...noneExpired, now, deletedBefore: 1, usedBefore: 1 })
      })
      assert.deepEqual(events, [])
    })

    it('changes in the same batch as failed ones are recorded once', async () => {
      const keys = [newKey(), newKey(), newKey()]
      const create = (i: number) => newUserGroup({ key: keys[i] ?? newKey(), ...by, now })
      const fails = () => {
        throw new Error('no token')
      }
      const { events, result } = await recordedEvents(store, () =>
        Promise.allSettled([
          store.userGroups.getOrCreate(create(0)),
          store.userGroups.getOrCreate({ ...create(1), issueToken: fails }),
          store.userGroups.getOrCreate({ ...create(1), change: { name: 'A\0' } }),
          store.userGroups.getOrCreate(create(2)),
        ]),
      )
      const isCreated = result.map((one) => one.status === 'fulfilled' && one.value.outcome === 'created')
      assert.deepEqual([isCreated[0], isCreated[1], isCreated[3]], [true, false, true])
      const groups = await Promise.all(keys.map((key) => store.userGroups.find(key)))
      assert.deepEqual(
        events.map(({ userGroup }) => userGroup?.providedId).sort(),
        groups.flatMap((group) => (group === null ? [] : [group.providedId])).sort(),
      )
    })
  })

  describeAuditLists(name, openFreshStore)
}
