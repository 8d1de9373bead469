import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Belongings } from '../failover/belongings.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import { smallDisk } from '../support/small-disk.ts'
import { assertSuccess } from '../support/user-api.ts'
import { apiOf, readiness } from './acknowledged.ts'
import { folderFor, startOn } from './postgres-on-small-disk.ts'
import { programsOrSkip } from './programs.ts'

test("a full disk under PostgreSQL's tables fails writes with 503, loses nothing, and recovers once there is space", async (t) => {
  const programs = programsOrSkip(t)
  const disk = programs && smallDisk(t, 40)
  if (programs === null || disk === null) return
  const belongings = new Belongings()
  t.after(() => belongings.end())
  const server = await PostgresServer.startPrimary(belongings, 'one')
  const space = folderFor(programs, disk.folder, 'space')
  // Only the tables are on the small disk. Without space for its write-ahead log, PostgreSQL would stop.
  await server.query(`CREATE TABLESPACE small LOCATION '${space}'`)
  await server.query('CREATE DATABASE ugs TABLESPACE small')
  const { service, acknowledged } = await startOn(t, server)

  disk.fill()
  while (await acknowledged.create(service));
  const [id = ''] = acknowledged.tokens.keys()
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      if (i % 2 === 0) assertSuccess(await apiOf(service).get({ user_group_id: id }))
      else await acknowledged.create(service)
    }),
  )
  await acknowledged.assertKept(service)
  assert.equal(await readiness(service), 200)
  assert.match(service.stderr(), /"reason":"53100: the server's disk is full; free some space there"/)

  disk.free()
  await acknowledged.createSome(service)
  await acknowledged.assertKept(service)
})
