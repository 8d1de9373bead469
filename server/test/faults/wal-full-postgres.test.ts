import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Belongings } from '../failover/belongings.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import { smallDisk } from '../support/small-disk.ts'
import { assertFault } from '../support/user-api.ts'
import { apiOf, readiness } from './acknowledged.ts'
import { folderFor, startOn } from './postgres-on-small-disk.ts'
import { programsOrSkip } from './programs.ts'

test('without space for its write-ahead log PostgreSQL stops: all requests get 503, nothing is lost, and the service recovers', async (t) => {
  const programs = programsOrSkip(t)
  const disk = programs && smallDisk(t, 64)
  if (programs === null || disk === null) return
  const belongings = new Belongings()
  t.after(() => belongings.end())
  const log = folderFor(programs, disk.folder, 'wal')
  const server = await PostgresServer.startPrimary(belongings, 'one', { walFolder: log })
  await server.query('CREATE DATABASE ugs')
  const { service, acknowledged } = await startOn(t, server, { UGS_POSTGRES_DEADLINE_MS: '2000' })

  disk.fill()
  while (await acknowledged.create(service));
  // PostgreSQL restarts and stops again, because recovery needs space too.
  await server.ended()
  const [id = ''] = acknowledged.tokens.keys()
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      if (i % 2 === 0) assertFault(await apiOf(service).get({ user_group_id: id }), 'unavailable')
      else assert.equal(await acknowledged.create(service), false)
    }),
  )
  assert.equal(await readiness(service), 503)
  assert.doesNotMatch(service.stderr(), /"code":"internal"/)

  disk.free()
  await server.start()
  await server.writable()
  await acknowledged.createSome(service)
  await acknowledged.assertKept(service)
  assert.equal(await readiness(service), 200)
})
