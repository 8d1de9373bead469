import { setTimeout as sleep } from 'node:timers/promises'
import type { Distribution } from './citus/distribution.ts'
import { PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool } from './primary-pool.ts'
import type { Retry } from './retry.ts'

/** SQLSTATE of a failed connection. */
const nodeUnreachable = '08006'

/** Interval of checks for writers in flight, in milliseconds. */
const pollIntervalMs = 20

/** A statement locks its table before it reads, so a later statement sees every key that is retired by then. */
const writers = `SELECT virtualtransaction AS id FROM pg_locks
  WHERE relation IN ('user_group'::regclass, to_regclass('webhook_secret'), to_regclass('signing_key')) AND mode = 'RowExclusiveLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * On Citus, writers are on the node of their bucket. A node that does not know the key yet, because the commit there was interrupted,
 * counts as one.
 */
const writersOfNodes = `SELECT nodeid AS node, success, result FROM run_command_on_all_nodes(format(
    $$ SELECT coalesce(json_agg(id), '[]') FROM (
         ${writers} UNION ALL SELECT 'any' WHERE NOT EXISTS (SELECT 1 FROM retired_secret_key WHERE key_id = %L)
       ) AS writer $$, $1::text
  ))`

interface WritersOfNode {
  readonly node: number
  readonly success: boolean
  /** Ids as a JSON array, or an error message. */
  readonly result: string
}

/** Retires secret keys. */
export class SecretKeyRetirement {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(primary: PrimaryPool, retry: Retry, distribution: Distribution) {
    this.#primary = primary
    this.#retry = retry
    this.#distribution = distribution
  }

  retire = (keyId: string): Promise<void> =>
    this.#retry.run(async (attempt) => {
      await this.#primary.query(
        'INSERT INTO retired_secret_key (key_id) VALUES ($1) ON CONFLICT (key_id) DO NOTHING',
        [keyId],
      )
      // Statements in flight may not have seen the retired key.
      let writing = await this.#listWriters(keyId)
      while (writing.length > 0 && !attempt.isOver) {
        await sleep(pollIntervalMs)
        const now = await this.#listWriters(keyId)
        writing = writing.filter((id) => now.includes(id))
      }
    })

  async #listWriters(keyId: string): Promise<string[]> {
    const { query } = this.#primary
    if (!this.#distribution.isDistributed) return (await query<{ id: string }>(writers)).map(({ id }) => id)
    const nodes = await query<WritersOfNode>(writersOfNodes, [keyId])
    return nodes.flatMap(({ node, success, result }) => {
      if (!success) throw new PostgresFailure(nodeUnreachable, 'querying')
      return (JSON.parse(result) as string[]).map((id) => `${node} ${id}`)
    })
  }
}
