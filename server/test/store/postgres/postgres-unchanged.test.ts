import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { getOrCreate } from '../contract/mapped-user-groups.ts'
import { openPostgres } from './postgres-support.ts'
import { freshKey, mint, actor } from '../contract/store-fixtures.ts'

// A failover or a restore from a backup can lose the latest changes. New changes then reuse the lost revisions.
describe('PostgreSQL: a user group that was read at a lost revision and has since reached the same revision number', () => {
  const revisions: Record<string, { first?: Change[]; lost: Change[]; later: Change[] }> = {
    'by an update': { lost: [rename('Lost')], later: [rename('Kept')] },
    'by a rotation': { lost: [rotate], later: [rotate] },
    'by an update in place of a rotation': { lost: [rotate], later: [rename('Kept')] },
    'by a rotation, with a clock that is behind': {
      first: [clockAhead(rename('Before'))],
      lost: [rotate],
      later: [rotate],
    },
    'by a suspension': { lost: [suspend(true), suspend(false)], later: [restore, suspend(true)] },
  }
  for (const [how, { first = [], lost, later }] of Object.entries(revisions)) {
    it(`is reported as changed: ${how}`, async (t) => {
      const url = await migratedDatabase(t)
      const store = await openPostgres(t, url)
      const session = await openSession(t, url)
      const key = freshKey()
      await getOrCreate(store, key)
      const apply = async (changes: Change[], now: number) => {
        for (const [i, change] of changes.entries()) await change(store, key, now + i)
      }
      await apply(first, 1500)
      await session.query('CREATE TABLE kept AS SELECT * FROM user_group')
      await session.query('CREATE TABLE kept_versions AS SELECT * FROM user_group_version')
      await apply(lost, 2000)
      const found = await getOrCreate(store, key, { change: {} })
      assert.ok(found.outcome === 'unchanged')
      assert.equal(await store.userGroups.isUnchanged(1, 'Customer', found.state), true)
      const before = await store.userGroups.find(key)
      for (const table of ['user_group_version', 'superseded_token'])
        await session.query(`DELETE FROM ${table}`)
      await session.query('DELETE FROM user_group')
      await session.query('INSERT INTO user_group_version SELECT * FROM kept_versions')
      await session.query('INSERT INTO user_group OVERRIDING SYSTEM VALUE SELECT * FROM kept')
      await apply(later, 3000)
      assert.equal((await store.userGroups.find(key))?.revision, before?.revision)
      assert.equal(await store.userGroups.isUnchanged(1, 'Customer', found.state), false)
    })
  }
})

type Change = (store: Store, key: UserGroupKey, now: number) => Promise<unknown>

function rename(name: string): Change {
  return (store, key, now) => store.userGroups.update({ key, change: { name }, ...actor, now })
}

function clockAhead(change: Change): Change {
  return (store, key, now) => change(store, key, now + 10_000)
}

async function rotate(store: Store, key: UserGroupKey, now: number): Promise<void> {
  const { providedId, ...tenantScope } = key
  const target = { providedId }
  const command = { ...tenantScope, target, oldTokenValidUntil: now, issueToken: mint, now }
  assert.equal((await store.userGroups.rotate({ ...actor, ...command })).outcome, 'rotated')
}

function suspend(suspended: boolean): Change {
  return (store, key, now) => store.userGroups.suspend({ ...actor, key, suspended, now })
}

/** Deletes and restores the user group, which increases its revision. */
async function restore(store: Store, key: UserGroupKey, now: number): Promise<void> {
  const teamId = (await store.userGroups.find(key))?.teamId ?? 0
  const { workspaceId, environment } = key
  await store.userGroups.delete({ key, ...actor, now })
  await store.userGroups.restore({ ...actor, workspaceId, environment, teamId, deletedAfter: 0, now })
}
