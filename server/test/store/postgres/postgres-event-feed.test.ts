import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../../src/domain/util/clock.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { createMany, subscribe } from '../contract/feed-subscriber.ts'
import { openPostgres } from './postgres-support.ts'

describe('EventFeed on PostgreSQL', () => {
  it('a heartbeat claims no completeness while an open transaction holds back a change', async (t) => {
    const url = await migratedDatabase(t)
    const store = await openPostgres(t, url)
    const { received, beats, until } = subscribe(t, store, null)
    await until(() => beats.length > 0)
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await session.query('SELECT pg_current_xact_id()')
    const [id = ''] = await createMany(store, 1)
    const createdAt = systemClock.monotonic()
    const { length } = beats
    await until(() => beats.length >= length + 2)
    for (const { completeAt } of beats) assert.ok(completeAt <= createdAt)
    assert.deepEqual(received, [])
    await session.query('COMMIT')
    await until(() => (beats.at(-1)?.completeAt ?? 0) > createdAt)
    assert.deepEqual(received, [id])
  })

  it('after a failover, sends the events and then a reset, once', async (t) => {
    const url = await migratedDatabase(t)
    const store = await openPostgres(t, url)
    const { received, beats, until } = subscribe(t, store, null)
    await until(() => beats.length > 0)
    const session = await openSession(t, url)
    await session.query(
      "CREATE OR REPLACE FUNCTION current_timeline() RETURNS integer LANGUAGE sql AS 'SELECT 7'",
    )
    await until(() => received.includes('reset'))
    const [id = ''] = await createMany(store, 1)
    await until(() => received.includes(id))
    assert.equal(received.filter((one) => one === 'reset').length, 1)
  })
})
