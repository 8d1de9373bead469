// Kills the database of running services under load with SIGKILL, and verifies every response:
// `npm run test:failover`. See docs/reliability.md.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Belongings } from './belongings.ts'
import { PostgresServer } from './postgres-server.ts'
import { findPrograms } from './programs.ts'
import { runRound, type Result } from './round.ts'
import { database, startServices, type Services } from './services.ts'
import { verify } from './verify.ts'

/** Ends the run if something hangs. */
const boundMs = 6 * 60_000
setTimeout(() => {
  console.error(`not over within ${boundMs} ms`)
  process.exit(1)
}, boundMs).unref()

// Without these programs there is nothing to test.
findPrograms()
const belongings = new Belongings()
after(() => belongings.end())

describe('a server that is killed with all its processes, and started again', () => {
  let server: PostgresServer
  let services: Services
  const results: { prefix: string; result: Result }[] = []
  before(async () => {
    server = await PostgresServer.startPrimary(belongings, 'one')
    services = await startServices(belongings, server)
  })

  test('is as durable as PostgreSQL is by default', async () => {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      assert.deepEqual(await server.query(`SHOW ${setting}`), [{ [setting]: 'on' }])
    }
  })

  // Shorter and longer than the retries of a request, and several times in a row.
  for (const [i, outagesMs] of [[0], [6500], [2000], [8000], [3500], Array<number>(8).fill(0)].entries()) {
    const name = `kill -9, round ${i + 1}${outagesMs.length > 1 ? ` (${outagesMs.length} kills)` : ''}`
    test(name, async () => {
      const prefix = `kill-${i + 1}-`
      const bringBack = async () => {
        await server.start()
        return server
      }
      const result = await runRound(services, { name, prefix, outagesMs, victim: server, bringBack })
      results.push({ prefix, result })
    })
  }

  test('holds what was acknowledged before each of the kills', async () => {
    for (const { prefix, result } of results) {
      assert.deepEqual((await verify(result.caller, server.queryOf(database), prefix)).slice(0, 10), [])
    }
    // Without such requests the rounds would prove less than they claim.
    assert.ok(results.reduce((sum, { result }) => sum + result.inDoubt, 0) > 0)
  })
})

describe('a server that is killed, and its synchronous standby', () => {
  let primary: PostgresServer
  let standby: PostgresServer
  let services: Services
  before(async () => {
    primary = await PostgresServer.startPrimary(belongings, 'one')
    standby = await PostgresServer.startStandby(belongings, 'two', primary)
    services = await startServices(belongings, primary, [standby])
  })

  // Fail over and back: the killed server becomes the standby of the other.
  for (const [i, downMs] of [2000, 6500].entries()) {
    const name = `failover ${i + 1}`
    test(name, async () => {
      if (i > 0) await standby.follow(primary)
      const bringBack = async () => {
        await standby.promote()
        ;[primary, standby] = [standby, primary]
        return primary
      }
      const prefix = `failover-${i + 1}-`
      await runRound(services, { name, prefix, outagesMs: [downMs], victim: primary, bringBack })
    })
  }
})
