import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import type { ExpectedUserGroup } from '../../../src/domain/user-group/user-group-store.ts'
import { bucketOf, locationOf } from '../../../src/domain/user-group/location.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { openSession } from '../../support/session.ts'
import { eachLoss, losing, type Lose } from './losing-connections.ts'
import {
  created,
  openPostgres,
  openProxied,
  rotation,
  statements,
  valueOf,
  waitingForLocks,
} from './postgres-support.ts'
import { count, deletion, referenceOf, actor, plain, noneExpired } from '../contract/store-fixtures.ts'

/** Returns revision and name of all stored versions. */
async function versionsOf(store: Store, group: UserGroup) {
  const versions = await store.userGroupHistory.listVersions({
    workspaceId: group.workspaceId,
    ...locationOf(group),
    beforeRevision: null,
    limit: 9,
  })
  return versions.map(({ revision, name }) => [revision, name])
}

const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
const listDeleted = (store: Store) =>
  store.userGroupHistory.listDeleted({ ...tenantScope, deletedAfter: 0, afterTeamId: null, limit: 9 })

describe('PostgreSQL: an update that expects a revision', () => {
  for (const [title, expectation] of Object.entries({
    'a revision': ({ teamId, revision }: UserGroup) => ({ expected: { teamId, revision } }),
    'a user group': ({ teamId }: UserGroup) => ({ expected: { teamId } }),
    nothing: () => ({}),
  })) {
    eachLoss(`is applied once when it expects ${title}`, async (t, lose) => {
      const { store, proxy } = await openProxied(t)
      const group = await created(store)
      const command = { key: group, ...expectation(group), change: { name: 'B' }, ...actor, now: 3000 }
      const result = await losing(proxy, statements.update, lose, () => store.userGroups.update(command))
      assert.equal(result.outcome, 'updated')
      const found = await store.userGroups.find(group)
      assert.deepEqual(plain(found), plain({ ...group, name: 'B', revision: 2, updatedAt: 3000 }))
      assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(found))
      assert.deepEqual(await versionsOf(store, group), [[1, 'A']])
    })
  }

  it('reports a mismatch after an update of another process, and keeps that update', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const { teamId, revision } = group
    const update = (by: Store, name: string) =>
      by.userGroups.update({
        key: group,
        expected: { teamId, revision },
        change: { name },
        ...actor,
        now: 3000,
      })
    const lose: Lose = async (caught) => {
      assert.equal((await update(other, 'C')).outcome, 'updated')
      caught.drop()
    }
    const result = await losing(proxy, statements.update, lose, () => update(store, 'B'))
    assert.deepEqual(result, { outcome: 'revision_mismatch' })
    assert.equal((await store.userGroups.find(group))?.name, 'C')
    assert.deepEqual(await versionsOf(store, group), [[1, 'A']])
  })

  it('reports a mismatch when another process changes the user group between its read and write', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    type Operation = (group: UserGroup, expected: ExpectedUserGroup) => Promise<{ outcome: string }>
    const operations: [RegExp, Operation][] = [
      [
        statements.update,
        (key, expected) =>
          store.userGroups.update({ key, expected, change: { name: 'B' }, ...actor, now: 3000 }),
      ],
      [
        statements.suspend,
        (key, expected) => store.userGroups.suspend({ ...actor, key, expected, suspended: true, now: 3000 }),
      ],
      [
        statements.rotate,
        ({ token, providedId }, expected) =>
          store.userGroups.rotate(rotation(token, { target: { providedId, expected } })),
      ],
      [
        statements.deleteUserGroup,
        async (group, expected) => ({
          outcome: await store.userGroups.delete({ ...deletion(group), expected }),
        }),
      ],
    ]
    for (const [pattern, operate] of operations) {
      const group = await created(store)
      const { teamId, revision } = group
      const caught = proxy.next(pattern)
      const result = operate(group, { teamId, revision })
      const held = await caught
      const changed = await other.userGroups.update({
        ...{ key: group, change: { name: 'C' }, ...actor, now: 3000 },
      })
      assert.ok(changed.outcome === 'updated')
      held.pass()
      assert.deepEqual(count([await result]), { revision_mismatch: 1 })
      assert.deepEqual(plain(await store.userGroups.find(group)), plain(changed.userGroup))
    }
  })
})

describe('PostgreSQL: a suspension', () => {
  for (const expects of [true, false]) {
    eachLoss(
      `is applied once, and so is the resumption${expects ? ', with an expected revision' : ''}`,
      async (t, lose) => {
        const { store, proxy } = await openProxied(t)
        const group = await created(store)
        for (const [suspended, revision] of [
          [true, 1],
          [false, 2],
        ] as const) {
          const expected = expects ? { expected: { teamId: group.teamId, revision } } : {}
          const result = await losing(proxy, statements.suspend, lose, () =>
            store.userGroups.suspend({ ...actor, key: group, ...expected, suspended, now: 3000 }),
          )
          assert.equal(result.outcome, 'updated')
          const found = await store.userGroups.find(group)
          const suspendedAt = suspended ? 3000 : null
          assert.deepEqual(plain(found), plain({ ...group, revision: revision + 1, suspendedAt }))
          assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(found))
        }
      },
    )
  }

  it('is applied once when two processes do it at once', async (t) => {
    const { store, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        (i % 2 === 0 ? store : other).userGroups.suspend({
          ...actor,
          key: group,
          suspended: true,
          now: 3000 + i,
        }),
      ),
    )
    assert.deepEqual(count(results), { updated: 1, unchanged: 23 })
    assert.equal((await store.userGroups.find(group))?.revision, 2)
  })
})

describe('PostgreSQL: a deletion', () => {
  eachLoss('with an expected revision is applied once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store, { change: { name: 'A', mapping: '{"a":"b"}' } })
    const { teamId, revision } = group
    const command = { ...deletion(group), expected: { teamId, revision } }
    const outcome = await losing(proxy, statements.deleteUserGroup, lose, () =>
      store.userGroups.delete(command),
    )
    assert.equal(outcome, 'deleted')
    assert.deepEqual(
      plain(await listDeleted(store)),
      plain([{ ...group, deletedAt: 9000, deletedBy: actor.author }]),
    )
    assert.equal(
      (await store.userGroups.restore({ ...actor, now: 9000, ...tenantScope, teamId, deletedAfter: 0 }))
        .outcome,
      'restored',
    )
  })

  it('is applied once when two processes do it at once', async (t) => {
    const { store, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    for (let round = 0; round < 8; round++) {
      const group = await created(store)
      const outcomes = await Promise.all(
        [store, other, store, other].map((by) => by.userGroups.delete(deletion(group))),
      )
      assert.deepEqual(outcomes.sort(), ['deleted', 'not_found', 'not_found', 'not_found'])
    }
    assert.equal((await listDeleted(store)).length, 8)
  })

  it('either includes a simultaneous change of another process or precedes it', async (t) => {
    const { store, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const session = await openSession(t, url)
    for (let round = 0; round < 12; round++) {
      const group = await created(store, { change: { name: 'A', mapping: '{"a":"b"}' } })
      const change = { name: 'B', mapping: `{"c":"${round}"}` }
      const update = () => other.userGroups.update({ key: group, change, ...actor, now: 3000 })
      const remove = () => store.userGroups.delete(deletion(group))
      const [first, second] = await Promise.all(round % 2 === 0 ? [update(), remove()] : [remove(), update()])
      const updated = typeof first === 'string' ? second : first
      assert.ok(typeof updated !== 'string')
      const kept = (await listDeleted(store)).find(({ teamId }) => teamId === group.teamId)
      assert.equal(kept?.name, updated.outcome === 'updated' ? 'B' : 'A')
      await store.userGroups.restore({
        ...actor,
        now: 9000,
        ...tenantScope,
        teamId: group.teamId,
        deletedAfter: 0,
      })
      const entries = `SELECT schema_key FROM mapping_entry WHERE team_id = ${group.teamId}`
      assert.equal(await valueOf(session, entries), updated.outcome === 'updated' ? 'c' : 'a')
      await remove()
      assert.equal(await valueOf(session, entries), undefined)
      await deleteExpired(store, { ...noneExpired, deletedBefore: 9000 })
    }
  })
})

describe('PostgreSQL: a restoration', () => {
  eachLoss('is applied once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store, { change: { name: 'A', mapping: '{"a":"b"}' } })
    await store.userGroups.delete(deletion(group))
    const { teamId } = group
    const result = await losing(proxy, statements.restoreUserGroup, lose, () =>
      store.userGroups.restore({ ...actor, now: 9000, ...tenantScope, teamId, deletedAfter: 0 }),
    )
    assert.equal(result.outcome, 'restored')
    const found = await store.userGroups.find(group)
    assert.deepEqual(plain(found), plain({ ...group, revision: 2 }))
    assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(found))
    assert.deepEqual(await listDeleted(store), [])
    assert.equal(
      (await store.userGroups.findByToken(1, 'Customer', referenceOf(group.token), 1))?.userGroup.teamId,
      teamId,
    )
  })

  it('reports that its id is taken when another process took it before the retry', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    await store.userGroups.delete(deletion(group))
    const lose: Lose = async (caught) => {
      await created(other, { key: group })
      caught.drop()
    }
    const result = await losing(proxy, statements.restoreUserGroup, lose, () =>
      store.userGroups.restore({
        ...actor,
        now: 9000,
        ...tenantScope,
        teamId: group.teamId,
        deletedAfter: 0,
      }),
    )
    assert.deepEqual(result, { outcome: 'id_taken' })
    assert.equal((await listDeleted(store)).length, 1)
  })

  it('waits for an uncommitted creation of another session, and then reports that its id is taken', async (t) => {
    const { store, url } = await openProxied(t)
    const group = await created(store)
    await store.userGroups.delete(deletion(group))
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await session.query(
      `INSERT INTO user_group (workspace_id, environment, provided_id, bucket, team_id, name, token_hash, token_key_id, token_sealed,
                               token_issued_at, created_at, updated_at)
       VALUES (1, 'Customer', $1, $2, 9000, 'A', sha256('other'), 'k', '\\x00', 1, 1, 1)`,
      [group.providedId, bucketOf(group)],
    )
    const restoring = store.userGroups.restore({
      ...actor,
      now: 9000,
      ...tenantScope,
      teamId: group.teamId,
      deletedAfter: 0,
    })
    await waitingForLocks(session)
    await session.query('COMMIT')
    assert.deepEqual(await restoring, { outcome: 'id_taken' })
    assert.equal((await listDeleted(store)).length, 1)
  })

  it('is applied once when two processes do it at once', async (t) => {
    const { store, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    for (let round = 0; round < 8; round++) {
      const group = await created(store)
      await store.userGroups.delete(deletion(group))
      const results = await Promise.all(
        [store, other, store, other].map((by) =>
          by.userGroups.restore({
            ...actor,
            now: 9000,
            ...tenantScope,
            teamId: group.teamId,
            deletedAfter: 0,
          }),
        ),
      )
      assert.deepEqual(count(results), { restored: 1, not_found: 3 })
      assert.equal((await store.userGroups.find(group))?.revision, 2)
    }
  })
})

describe('PostgreSQL: two processes that delete expired user groups', () => {
  it('delete each of them once, while recent ones are restored', async (t) => {
    const { store, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const groups = await Promise.all(Array.from({ length: 60 }, () => created(store)))
    await Promise.all(
      groups.map((group, i) => store.userGroups.delete({ ...deletion(group), now: i < 30 ? 1000 : 2000 })),
    )
    const [deletedCount] = await Promise.all([
      deleteExpired(store, { ...noneExpired, deletedBefore: 1000 }),
      deleteExpired(other, { ...noneExpired, deletedBefore: 1000 }),
      ...groups.map(({ teamId }) =>
        store.userGroups.restore({ ...actor, now: 9000, ...tenantScope, teamId, deletedAfter: 1000 }),
      ),
    ])
    assert.ok(deletedCount <= 30)
    assert.deepEqual(await listDeleted(store), [])
    const found = await Promise.all(groups.map((group) => store.userGroups.find(group)))
    assert.deepEqual(
      found.map((group) => group !== null),
      groups.map((_, i) => i >= 30),
    )
  })
})
