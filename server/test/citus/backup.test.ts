import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { readBlocks } from '../docs/blocks.ts'
import { recoverySettings } from '../docs/recovery-settings.ts'
import { readPage } from '../docs/support.ts'
import { Belongings } from '../failover/belongings.ts'
import { Caller } from '../failover/caller.ts'
import { poll } from '../failover/poll.ts'
import { archiving, type PostgresServer } from '../failover/postgres-server.ts'
import { acknowledges } from '../failover/round.ts'
import { database, type Services } from '../failover/services.ts'
import { verify } from '../failover/verify.ts'
import { createApiToken } from '../support/command.ts'
import { errorsIn } from '../support/doctor.ts'
import { assertActive, introspector } from '../support/introspection.ts'
import type { RunningService } from '../support/service.ts'
import { CitusCluster, reasonToSkip } from './citus-cluster.ts'
import { assertSchemasKept, RegistryClient } from './registry-client.ts'
import { assertReplacedTokensInactive, underLoad } from './under-load.ts'

/** Maximum time until Citus is ready after a start, in milliseconds. */
const boundMs = 30_000

/** Returns the statements of docs/scaling.md. */
function readStatements() {
  const [, section = ''] = readPage('docs/scaling.md').split('\n### Back up a cluster\n')
  const [create, move, finish] = readBlocks('docs/scaling.md', 'Back up a cluster', 3)
  const [, findDaemon = ''] = /`(SELECT 1 FROM pg_stat_activity .+?)`/.exec(section) ?? []
  const [, point = ''] = /recovery_target_name = '(.+?)'/.exec(section) ?? []
  const moveTo = (oldPort: number, port: number) =>
    statementsOf(move).map((statement) =>
      statement
        .replace("'old.example' AND nodeport = 5432", `'127.0.0.1' AND nodeport = ${oldPort}`)
        .replace("'new.example', 5432", `'127.0.0.1', ${port}`),
    )
  return { create: statementsOf(create), point, findDaemon, moveTo, finish: statementsOf(finish) }
}

const statementsOf = (block: string) => block.split(';').filter((statement) => statement.trim() !== '')

const settings = { UGS_SECRET_KEYS: `backup:${randomBytes(32).toString('base64')}` }

const skip = await reasonToSkip()

describe('Citus: a cluster that is restored as docs/scaling.md says', { skip }, () => {
  const belongings = new Belongings()
  const statements = readStatements()
  let cluster: CitusCluster
  let services: Services
  before(async () => {
    cluster = await CitusCluster.start(belongings, 2, archiving)
    services = await cluster.startServices(settings)
  })
  after(() => belongings.end())

  /** Leaves transactions that the coordinator will commit and roll back, as if the restore point interrupted it. */
  async function prepareTransactions(): Promise<void> {
    const [worker] = cluster.workers as [PostgresServer]
    for (const [table, name] of [
      ['rolled_back', 'citus_0_1_1_1'],
      ['committed', 'citus_0_1_2_1'],
    ]) {
      const prepare = `BEGIN; CREATE TABLE ${table} (); PREPARE TRANSACTION '${name}'`
      await worker.query(prepare, [], database)
    }
    await cluster.query(
      `INSERT INTO pg_dist_transaction SELECT groupid, 'citus_0_1_2_1' FROM pg_dist_node WHERE nodeport = ${worker.port}`,
    )
  }

  it('has everything that was acknowledged before the restore point, and serves all operations', async () => {
    const [service] = services.running as [RunningService]
    const adminToken = await createApiToken(service, 'Testing', '--scopes', 'admin')
    const registry = new RegistryClient(service.origin, adminToken)
    const { restored, schemas, ledger, point } = await underLoad(
      cluster,
      services,
      'backup-',
      async (ledger) => {
        const restored = await cluster.backUp()
        await acknowledges(ledger, ledger.acknowledged + 300)
        await registry.created()
        await prepareTransactions()
        const schemas = [...registry.acknowledged]
        const startedAt = performance.now()
        for (const statement of statements.create) await cluster.query(statement)
        return { restored, schemas, ledger, point: { startedAt, endedAt: performance.now() } }
      },
    )
    await registry.stop()
    services.running.forEach(({ pid }) => process.kill(pid, 'SIGKILL'))
    for (const node of cluster.nodes) {
      await node.archived()
      await node.kill()
    }

    const pairs = restored.nodes.map((node, i) => [cluster.nodes[i] as PostgresServer, node] as const)
    const target = `recovery_target_name = '${statements.point}'`
    await Promise.all(pairs.map(([old, node]) => node.recover(recoverySettings(old.archive, target))))
    // Before it has started, citus_update_node can crash the server.
    await poll('the maintenance daemon', boundMs, async () => {
      const [daemon] = await restored.query(statements.findDaemon)
      return daemon
    })
    const moves = pairs.flatMap(([old, node]) => statements.moveTo(old.port, node.port))
    for (const statement of [...moves, ...statements.finish]) await restored.query(statement)
    const tables = await restored.workers[0]?.query(
      "SELECT to_regclass('committed') AS committed, to_regclass('rolled_back') AS rolled_back",
      [],
      database,
    )
    assert.deepEqual(tables, [{ committed: 'committed', rolled_back: null }])

    const restarted = await restored.startServices(settings)
    const [first] = restarted.running as [RunningService]
    const { stdout } = await first.ugs('doctor', '--json', '--skip', 'durability,disk')
    assert.deepEqual(errorsIn(stdout), [])

    // Requests that were in flight at the restore point may have taken effect before it.
    const caller = new Caller(
      restarted.origins,
      services.apiToken,
      ledger.asOf(point.startedAt, point.endedAt),
    )
    const { requests } = caller.ledger
    const violations = await verify(caller, restored.query, 'backup-')
    assert.deepEqual(violations.slice(0, 10), [], `${violations.length} violations`)
    await caller.close()
    await assertReplacedTokensInactive(restarted, caller.ledger)
    const introspect = introspector(
      first.origin,
      await createApiToken(first, 'Testing', '--scopes', 'introspect'),
    )
    const current = requests.findLast(({ kind }) => kind === 'read')
    assertActive(await introspect(current?.response?.token ?? ''))
    await assertSchemasKept(restored, schemas)
    const restoredRegistry = new RegistryClient(first.origin, adminToken)
    await underLoad(restored, restarted, 'restored-', () => restoredRegistry.created())
    await restoredRegistry.stop()
    await assertSchemasKept(restored, [...schemas, ...restoredRegistry.acknowledged])
  })
})
