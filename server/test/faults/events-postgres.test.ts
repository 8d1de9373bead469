import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import { openStore } from '../../src/store/open-store.ts'
import { Belongings } from '../failover/belongings.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import { eventsAfter, positionNow } from '../store/contract/feed-events.ts'
import { created } from '../store/postgres/postgres-support.ts'
import { defaults } from '../store/store-options.ts'
import { programsOrSkip } from './programs.ts'

test('no event is missing after a crash of PostgreSQL that repeats transaction ids, and prepared transactions delay events', async (t) => {
  const programs = programsOrSkip(t)
  if (programs === null) return
  const belongings = new Belongings()
  t.after(() => belongings.end())
  const server = await PostgresServer.startPrimary(belongings, 'one', {
    programs,
    settings: {
      max_prepared_transactions: 2,
      wal_writer_delay: 10_000,
      autovacuum: 'off',
      bgwriter_delay: 10_000,
    },
  })
  await server.query('CREATE DATABASE ugs')
  const url = `postgres://${server.credentials}@${server.host}/ugs`
  const store = await openStore(parseDatabaseUrl(url), defaults)
  t.after(() => store.close())

  await created(store)
  await server.query('CHECKPOINT')
  const before = await positionNow(store)
  const session = new Client(url)
  session.on('error', () => undefined)
  await session.connect()
  // Assigns transaction ids whose ends are not flushed to the write-ahead log.
  for (let i = 0; i < 40; i++) await session.query('BEGIN; SELECT pg_current_xact_id(); ROLLBACK')
  const nextId = async () => {
    const [row] = await server.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id', [], 'ugs')
    return Number((row as { id: string }).id)
  }
  const position = (await store.events.read(before, 10))?.position ?? ''
  const head = await store.events.head()
  const idBefore = await nextId()
  await server.kill()
  await server.start()
  await server.writable()
  const idAfter = await nextId()
  t.diagnostic(`next transaction id ${idBefore} before the crash, ${idAfter} after it`)
  assert.ok(idAfter < idBefore, 'the crash has not repeated transaction ids')
  const { providedId } = await created(store)
  // Passes the ids of before the crash.
  const other = new Client(url)
  await other.connect()
  for (let i = 0; i < 60; i++) await other.query('BEGIN; SELECT pg_current_xact_id(); ROLLBACK')
  for (const after of [before, position, head])
    assert.deepEqual(
      (await eventsAfter(store, after)).map(({ userGroup }) => userGroup?.providedId),
      [providedId],
    )

  const start = await positionNow(store)
  await other.query("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'one'")
  const late = await created(store)
  assert.deepEqual((await store.events.read(start, 10))?.events, [])
  await other.query("ROLLBACK PREPARED 'one'")
  await other.end()
  const events = await eventsAfter(store, start)
  assert.deepEqual(
    events.map(({ userGroup }) => userGroup?.providedId),
    [late.providedId],
  )
})
