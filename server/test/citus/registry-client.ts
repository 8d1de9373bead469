import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { poll } from '../failover/poll.ts'
import { database } from '../failover/services.ts'
import { adminApi, type AdminApi } from '../support/admin-api.ts'
import { assertFault } from '../support/user-api.ts'
import type { CitusCluster } from './citus-cluster.ts'

/** Maximum time until a schema is acknowledged, in milliseconds. */
const boundMs = 60_000

/** A client that creates schemas one after the other. Each creation is a two-phase commit over all nodes. */
export class RegistryClient {
  /** The ids of the acknowledged schemas. */
  readonly acknowledged: string[] = []
  readonly #running: Promise<void>
  #isStopped = false

  constructor(origin: string, apiToken: string) {
    this.#running = this.#run(adminApi(origin, apiToken))
  }

  /** Resolves when one more schema is acknowledged. */
  async created(): Promise<void> {
    const count = this.acknowledged.length
    await poll('a new schema', boundMs, () => this.acknowledged.length > count || undefined)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run({ createSchema }: AdminApi): Promise<void> {
    while (!this.#isStopped) {
      const id = randomUUID()
      const response = await createSchema({ body: { provided_id: id, name: id } })
      if (response.status === 201) this.acknowledged.push(id)
      else assertFault(response, 'unavailable')
    }
  }
}

/** Asserts that no transaction is prepared, and that every node has these schemas. */
export async function assertSchemasKept(cluster: CitusCluster, ids: readonly string[]): Promise<void> {
  assert.deepEqual(await cluster.preparedTransactions(), [])
  for (const node of cluster.nodes) {
    const rows = await node.query('SELECT provided_id FROM schema', [], database)
    const kept = new Set(rows.map(({ provided_id: id }) => id))
    assert.deepEqual(
      ids.filter((id) => !kept.has(id)),
      [],
      node.name,
    )
  }
}
