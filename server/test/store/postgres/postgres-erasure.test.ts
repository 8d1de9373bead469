import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { actor, deletion } from '../contract/store-fixtures.ts'
import { created, openPostgres, rowsOf, waitingForLocks } from './postgres-support.ts'

test('PostgreSQL: an erasure waits for writes that still saw the user group', async (t) => {
  const url = await migratedDatabase(t)
  const store = await openPostgres(t, url)
  const session = await openSession(t, url)
  const watching = await openSession(t, url)
  const group = await created(store)
  const { workspaceId, environment, teamId } = group
  const location = { workspaceId, ...locationOf(group) }
  const mark = {
    ...location,
    environment,
    month: 202611,
    viewerId: 'ada',
    resource: '',
    days: 1,
    lastSeenAt: 1,
  }
  await store.userGroups.delete(deletion(group))

  await session.query('BEGIN')
  // The writes take their snapshots, and then wait for these rows.
  await session.query(`INSERT INTO viewing (workspace_id, environment, month, team_id, viewer_id, resource, bucket, days, last_seen_at)
    VALUES (${workspaceId}, '${environment}', 202611, ${teamId}, 'ada', '', ${location.bucket}, 1, 1)`)
  await session.query(`INSERT INTO last_introspection (workspace_id, team_id, bucket, introspected_at)
    VALUES (${workspaceId}, ${teamId}, ${location.bucket}, 1)`)
  const writes = [
    store.usage.record([mark]),
    store.introspections.record([{ ...location, introspectedAt: 1 }]),
  ]
  await waitingForLocks(watching, { count: 2 })
  const erasure = store.userGroupHistory.erase({
    ...{ workspaceId, environment, ...actor, teamId, now: 1, months: [202611], usageRows: 0 },
  })
  await Promise.race([erasure, waitingForLocks(watching, { count: 3 })])
  await session.query('ROLLBACK')
  await Promise.all(writes)
  assert.equal((await erasure)?.usageRows, 1)
  assert.deepEqual([await rowsOf(url, 'viewing'), await rowsOf(url, 'last_introspection')], [0, 0])
})

test('PostgreSQL: of two erasures at once one erases, and is audited', async (t) => {
  const url = await migratedDatabase(t)
  const store = await openPostgres(t, url)
  const [session, watching] = [await openSession(t, url), await openSession(t, url)]
  const group = await created(store)
  await store.userGroups.delete(deletion(group))
  const { workspaceId, environment, teamId } = group

  await session.query('BEGIN')
  await session.query('SELECT FROM deleted_user_group FOR UPDATE')
  const command = { workspaceId, environment, ...actor, teamId, now: 1, months: [202611], usageRows: 0 }
  const erasures = Promise.all([1, 2].map(() => store.userGroupHistory.erase(command)))
  await waitingForLocks(watching, { count: 2 })
  await session.query('ROLLBACK')
  assert.deepEqual(
    (await erasures).filter((erasure) => erasure !== null).map(({ versions }) => versions),
    [0],
  )
  const { rows } = await watching.query("SELECT FROM audit_event WHERE action = 'user_group.erased'")
  assert.equal(rows.length, 1)
})
