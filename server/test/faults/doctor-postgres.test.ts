import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Belongings } from '../failover/belongings.ts'
import { poll } from '../failover/poll.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import { commandIn, examine, examineOne } from '../support/doctor.ts'
import { runUgs, temporaryFolder } from '../support/service.ts'
import { programsOrSkip } from './programs.ts'

describe('ugs doctor on servers of its own', () => {
  it('reports prepared transactions, unused slots, missing standbys and a second primary', async (t) => {
    if (programsOrSkip(t) === null) return
    const belongings = new Belongings()
    t.after(() => belongings.end())
    const one = await PostgresServer.startPrimary(belongings, 'one')
    await one.query('ALTER SYSTEM SET max_prepared_transactions = 5')
    await one.kill()
    await one.start()
    await one.writable()
    await one.query('CREATE DATABASE ugs')
    const settingsOf = (...servers: PostgresServer[]) => ({
      DATABASE_URL: `postgres://${one.credentials}@${servers.map(({ host }) => host).join()}/ugs`,
      UGS_DATA_DIR: temporaryFolder(t),
    })
    const alone = settingsOf(one)
    /** Runs the statements of a remedy one by one, because ALTER SYSTEM must not share a transaction. */
    const runRemedy = async (command: string) => {
      for (const statement of command.split('; ')) await one.query(statement, [], 'ugs')
    }
    assert.equal((await runUgs(['migrate'], alone)).code, 0)
    const healthy = await runUgs(['doctor', '--strict', '--skip', 'disk'], alone)
    assert.equal(healthy.code, 0, healthy.stdout)

    await one.query("BEGIN; CREATE TABLE t (); PREPARE TRANSACTION 'it''s left'", [], 'ugs')
    const prepared = await examineOne(alone, 'prepared-transactions')
    assert.equal(prepared.severity, 'error')
    assert.match(prepared.problem, /^The prepared transaction it's left has held its locks for \d+ s\.$/)
    assert.equal(commandIn(prepared), "ROLLBACK PREPARED 'it''s left'")
    await runRemedy(commandIn(prepared))
    assert.deepEqual(await examine(alone, 'prepared-transactions'), [])

    await one.query("SELECT pg_create_physical_replication_slot('unused', true)")
    const slot = await examineOne(alone, 'log')
    assert.equal(slot.severity, 'warning')
    assert.match(slot.problem, /^The replication slot unused has no receiver and keeps \d+ MiB/)
    await runRemedy(commandIn(slot))
    assert.deepEqual(await examine(alone, 'log'), [])

    const apply = async (settings: string) => {
      for (const statement of settings.split('; ')) await one.query(`ALTER SYSTEM SET ${statement}`)
      await one.query('SELECT pg_reload_conf()')
      await settingsLoaded(one)
    }
    await apply('fsync = off; full_page_writes = off')
    const off = await examine(alone, 'durability')
    assert.deepEqual(
      off.map(({ problem }) => problem.split(':')[0]),
      ['fsync is off', 'full_page_writes is off'],
    )
    for (const finding of off) await runRemedy(commandIn(finding))

    await apply("synchronous_standby_names = 'two'")
    const waiting = await examineOne(alone, 'replication')
    assert.equal(waiting.severity, 'error')
    assert.match(waiting.problem, /^No standby matches synchronous_standby_names/)
    await runRemedy(commandIn(waiting))

    const two = await PostgresServer.startStandby(belongings, 'two', one)
    const both = settingsOf(one, two)
    const followed = await runUgs(['doctor', '--strict', '--skip', 'disk'], both)
    assert.equal(followed.code, 0, followed.stdout)

    await one.query("CREATE ROLE limited LOGIN PASSWORD 'limited'")
    const url = Object.assign(new URL(alone.DATABASE_URL), { username: 'limited', password: 'limited' })
    const asLimited = { ...alone, DATABASE_URL: url.href }
    const blind = await examineOne(asLimited, 'replication')
    assert.equal(blind.severity, 'warning')
    assert.match(blind.problem, /^The role may not see whether a standby is synchronous/)
    await runRemedy(commandIn(blind))
    assert.deepEqual(await examine(asLimited, 'replication'), [])

    await one.query('ALTER DATABASE ugs SET synchronous_commit = local')
    assert.match((await examineOne(alone, 'replication')).problem, /^synchronous_commit is local/)
    await one.query('ALTER DATABASE ugs RESET synchronous_commit')

    await apply("synchronous_standby_names = ''")
    const unsafe = await examineOne(both, 'replication')
    assert.equal(unsafe.severity, 'warning')
    assert.match(unsafe.problem, /a failover loses the latest acknowledged changes/)
    assert.equal(
      commandIn(unsafe).split('; ')[0],
      "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (*)'",
    )

    const [slow] = await examine({ ...both, UGS_POSTGRES_CONNECT_TIMEOUT_MS: '4000' }, 'hosts')
    assert.equal(slow?.remedy, 'Set UGS_POSTGRES_CONNECT_TIMEOUT_MS below 2500.')

    await two.query('SELECT pg_promote()')
    const split = await examineOne(both, 'hosts')
    assert.equal(split.severity, 'error')
    assert.equal(split.problem, `Several servers accept writes: ${one.host}, ${two.host}.`)

    await two.kill()
    const gone = await examineOne(both, 'hosts')
    assert.equal(gone.severity, 'warning')
    assert.match(gone.problem, new RegExp(`^The host ${two.host} cannot be reached \\(ECONNREFUSED\\)`))
  })
})

/** Waits until new connections see settings that were loaded again. */
async function settingsLoaded(server: PostgresServer): Promise<void> {
  await poll('new settings', 5000, async () => {
    const [row] = await server.query(
      'SELECT count(*)::integer AS pending FROM pg_file_settings WHERE NOT applied AND error IS NULL',
    )
    return row?.pending === 0 ? true : undefined
  })
}
