import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { generateApiToken } from '../../src/domain/token/token.ts'
import { Belongings } from '../failover/belongings.ts'
import type { PostgresServer } from '../failover/postgres-server.ts'
import { poll } from '../failover/poll.ts'
import { readiness, type Services } from '../failover/services.ts'
import { count } from '../store/contract/store-fixtures.ts'
import { creation, openPostgres, rotation } from '../store/postgres/postgres-support.ts'
import { adminApi, assertSucceeded, type AdminApi } from '../support/admin-api.ts'
import { createApiToken } from '../support/command.ts'
import { errorsIn } from '../support/doctor.ts'
import type { HttpResponse } from '../support/http.ts'
import { assertOAuthFault, introspector, type Introspect } from '../support/introspection.ts'
import type { RunningService } from '../support/service.ts'
import { assertFault, tokenIn, userApi } from '../support/user-api.ts'
import { CitusCluster, reasonToSkip } from './citus-cluster.ts'
import { assertSchemasKept, RegistryClient } from './registry-client.ts'
import { isRefused, underLoad, until } from './under-load.ts'

/** Maximum time until the services notice a fault or recover from it, in milliseconds. */
const boundMs = 60_000

/** Functions that each send one request. */
type Operations = Readonly<
  Record<'get' | 'create' | 'change' | 'introspect' | 'rotate', () => Promise<HttpResponse>>
>

function sendAll(operations: Operations): Promise<[name: string, response: HttpResponse][]> {
  return Promise.all(
    Object.entries(operations).map(async ([name, send]) => [name, await send()] as [string, HttpResponse]),
  )
}

async function assertServed(operations: Operations): Promise<void> {
  for (const [name, { status, text }] of await sendAll(operations))
    assert.equal(status, 200, `${name}: ${text}`)
}

/** Makes commits take effect on a node without a response: the node waits for a standby that does not exist. */
async function awaitMissingStandby(node: PostgresServer): Promise<void> {
  await node.query("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
  await node.kill()
  await node.start()
}

async function awaitNoStandby(node: PostgresServer): Promise<void> {
  await node.query('ALTER SYSTEM RESET synchronous_standby_names')
  await node.query('SELECT pg_reload_conf()')
}

const skip = await reasonToSkip()

describe('Citus: nodes that fail', { skip }, () => {
  const belongings = new Belongings()
  let cluster: CitusCluster
  let services: Services
  let origin: string
  let introspect: Introspect
  let admin: AdminApi
  before(async () => {
    // A change of a schema waits for one that a fault interrupted, until Citus ends it: by default up to a minute.
    cluster = await CitusCluster.start(belongings, 2, { 'citus.recover_2pc_interval': '5s' })
    services = await cluster.startServices()
    const [service] = services.running as [RunningService]
    origin = service.origin
    admin = adminApi(origin, services.adminToken)
    introspect = introspector(origin, await createApiToken(service, 'Testing', '--scopes', 'introspect'))
    const named = { provided_id: 'eu', name: 'EU' }
    const { schema } = assertSucceeded(await admin.createSchema({ body: named }), 'createSchema')
    const ofSchema = { ...named, schema_id: schema.id }
    assertSucceeded(await admin.createDataSource({ body: ofSchema }), 'createDataSource')
  })
  after(() => belongings.end())

  /** Creates a user group on a node, and returns functions that each send one operation on a bucket of that node. */
  async function operationsOn({ port }: PostgresServer): Promise<Operations> {
    const newId = async (): Promise<string> => {
      const id = randomUUID()
      return (await cluster.portOf(id)) === port ? id : newId()
    }
    const { get, put, post } = userApi(origin, services.apiToken)
    const id = await newId()
    let token = tokenIn(await get({ user_group_id: id, name: id }))
    return {
      get: () => get({ user_group_id: id }),
      create: async () => get({ user_group_id: await newId(), name: 'new' }),
      change: () => put({ user_group_id: id, name: randomUUID() }),
      introspect: () => introspect(token),
      rotate: async () => {
        const rotated = await post({ current_token: token })
        if (rotated.status === 200) token = tokenIn(rotated)
        // A rotation that got 503 may have taken effect.
        if (rotated.status !== 409) return rotated
        const response = await get({ user_group_id: id })
        if (response.status === 200) token = tokenIn(response)
        return response
      },
    }
  }

  interface Fault {
    readonly begin: (worker: PostgresServer) => Promise<void>
    readonly end: (worker: PostgresServer) => Promise<unknown>
  }
  const faults: Record<string, Fault> = {
    'refuses connections': {
      begin: (worker) => worker.kill(),
      end: (worker) => worker.start(),
    },
    'does not respond': {
      begin: (worker) => worker.freeze(),
      end: (worker) => worker.thaw(),
    },
  }
  for (const [what, { begin, end }] of Object.entries(faults)) {
    it(`serves the user groups of one worker while the other ${what}, and all of them afterwards`, async () => {
      const [dead, living] = cluster.workers as [PostgresServer, PostgresServer]
      // More than a service has connections.
      const onDead = await Promise.all(Array.from({ length: 12 }, () => operationsOn(dead)))
      const onLiving = await operationsOn(living)
      await begin(dead)

      /** Resolves with the statuses for the other worker, with requests for the dead one in flight. */
      const statusesOfLiving = async () => {
        const refusals = Promise.all(onDead.map(sendAll))
        const lists = Promise.all(
          onDead.flatMap(() => [
            admin.searchUserGroups(),
            admin.listIsolationFindings(),
            admin.restoreDeletedUserGroup({ params: { team_id: 1_000_000 } }),
          ]),
        )
        const responses = await sendAll(onLiving)
        for (const [name, response] of (await refusals).flat()) {
          if (name === 'introspect') assertOAuthFault(response, 'unavailable')
          else assertFault(response, 'unavailable')
          assert.equal(response.headers['retry-after'], '1', name)
        }
        for (const response of await lists) assertFault(response, 'unavailable')
        return responses.map(([name, { status }]) => `${name}: ${status}`)
      }
      const served = Object.keys(onLiving).map((name) => `${name}: 200`)
      try {
        // Until the service knows that the worker is down, its statements may occupy all connections.
        await poll('service', boundMs, async () => {
          assert.deepEqual(await statusesOfLiving(), served)
          return true
        })
        for (let i = 0; i < 3; i++) assert.deepEqual(await statusesOfLiving(), served)
        await readiness(services, 200, boundMs)
        const stranger = userApi(origin, generateApiToken('Testing'))
        assertFault(await stranger.get({ user_group_id: 'a', name: 'a' }), 'unauthenticated')
        const [service] = services.running as [RunningService]
        const { stdout } = await service.ugs('doctor', '--json', '--skip', 'durability,disk')
        assert.deepEqual(errorsIn(stdout), [
          `nodes: The node 127.0.0.1:${dead.port} cannot be reached. Requests for its user groups get 503.`,
        ])
      } finally {
        await end(dead)
      }
      const [first] = onDead as [Operations]
      await poll('recovery', boundMs, async () => (await first.get()).status === 200 || undefined)
      for (const operations of onDead) await assertServed(operations)
      await poll('lists', boundMs, async () => (await admin.searchUserGroups()).status === 200 || undefined)
    })
  }

  it('applies a change once if its node commits it, but does not respond in time', async (t) => {
    const store = await openPostgres(t, cluster.databaseUrl, { statementTimeoutMs: 1000, deadlineMs: 20_000 })
    const creations = Array.from({ length: 3 }, () => creation())
    await Promise.all(cluster.workers.map(awaitMissingStandby))
    try {
      const outcomes = await Promise.all(creations.map((command) => store.userGroups.getOrCreate(command)))
      const tokens = outcomes.map((outcome) => {
        assert.ok(outcome.outcome === 'created', outcome.outcome)
        return outcome.userGroup.token
      })
      const rotations = tokens.map((token) => store.userGroups.rotate(rotation(token)))
      assert.deepEqual(count(await Promise.all(rotations)), { rotated: 3 })
    } finally {
      await Promise.all(cluster.workers.map(awaitNoStandby))
    }
  })

  it('loses nothing acknowledged when the coordinator is killed under load', async () => {
    const { coordinator } = cluster
    await underLoad(cluster, services, 'coordinator-', async (ledger) => {
      await coordinator.kill()
      await until(ledger, 'a 503', isRefused)
      await readiness(services, 503, boundMs)
      await coordinator.start()
      await coordinator.writable()
      await readiness(services, 200, boundMs)
    })
  })

  it('loses nothing acknowledged when workers are killed under load, and leaves no prepared transaction', async () => {
    const [service] = services.running as [RunningService]
    const registry = new RegistryClient(origin, services.adminToken)
    await underLoad(cluster, services, 'worker-', async (ledger) => {
      for (const worker of [...cluster.workers, ...cluster.workers]) {
        await registry.created()
        await worker.kill()
        await worker.start()
        await worker.writable()
        await until(ledger, 'a rotation', ({ kind, outcome }) => kind === 'rotate' && outcome === 'done')
      }
      const [worker] = cluster.workers as [PostgresServer]
      await worker.kill()
      await until(ledger, 'a 503', isRefused)
      await worker.start()
      await worker.writable()
    })
    await registry.stop()

    const { stdout } = await service.ugs('doctor', '--json')
    for (const name of await cluster.preparedTransactions()) assert.match(stdout, new RegExp(name))
    await cluster.query('SELECT recover_prepared_transactions()')
    await assertSchemasKept(cluster, registry.acknowledged)
  })
})
