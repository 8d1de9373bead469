import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import { PostgresFailure, primaryBehind } from './postgres-fault.ts'

/** Interval of marks, in milliseconds. Changes that a failover loses within it may stay unnoticed. */
const intervalMs = 1000
const undefinedTable = '42P01'

export interface MarkedPrimary {
  query<Row>(statement: string, values: readonly unknown[]): Promise<Row[]>
  /** Makes every operation use a new connection, which is checked. */
  reconnect(): void
}

/**
 * Refuses a primary that lacks changes which this process saw acknowledged, such as an old primary that resumes after a failover
 * (decision 0038). Once a second, while operations succeed, the process writes a higher mark to a row of its own. A primary whose
 * row has a lower mark, or none, is refused until it has the mark, or until an operator accepts the loss.
 */
export class PrimaryFence {
  readonly #onChange: (isRefused: boolean) => void
  readonly #processId = randomUUID()
  #attempted = 0
  /** The last acknowledged mark. Undefined before the first, and after a loss was accepted. */
  #mark: number | undefined
  /** The last acceptance at the last acknowledged mark. */
  #accepted = 0
  #isRefused = false

  constructor(onChange: (isRefused: boolean) => void) {
    this.#onChange = onChange
  }

  get isRefused(): boolean {
    return this.#isRefused
  }

  /**
   * Checks the server of a new connection.
   * @param isUsed returns whether operations use or need this server. A slow probe may end after another one was found
   * @throws PostgresFailure if it lacks acknowledged changes
   */
  async check(client: pg.ClientBase, isUsed: () => boolean): Promise<void> {
    const expected = this.#mark
    if (expected === undefined) return
    const { mark, accepted } = await this.#read(client)
    // Undefined if another connection found an acceptance meanwhile.
    if (this.#mark === undefined || (mark !== null && mark >= expected)) this.#setRefused(false)
    else if (accepted > this.#accepted) {
      this.#mark = undefined
      this.#setRefused(false)
    } else {
      if (isUsed()) this.#setRefused(true)
      throw new PostgresFailure(primaryBehind, 'connecting')
    }
  }

  /**
   * Writes a mark at each interval in which operations have succeeded.
   * @param countOperations returns the number of operations that have succeeded so far
   * @returns function that stops it and removes the row
   */
  start(primary: MarkedPrimary, countOperations: () => number): () => Promise<void> {
    let counted = countOperations()
    let writing: Promise<void> | undefined
    const timer = setInterval(() => {
      const count = countOperations()
      if (count === counted || writing !== undefined) return
      writing = this.#write(primary)
        .then(() => void (counted = count))
        // The next interval tries again.
        .catch(() => undefined)
        .finally(() => (writing = undefined))
    }, intervalMs).unref()
    return async () => {
      clearInterval(timer)
      await writing
      if (this.#mark === undefined || this.#isRefused) return
      await primary
        .query('DELETE FROM process_mark WHERE process_id = $1', [this.#processId])
        .catch(() => undefined)
    }
  }

  /** @throws PostgresFailure */
  async #write(primary: MarkedPrimary): Promise<void> {
    const expected = this.#mark
    // The outcome of an earlier attempt may be unknown.
    const mark = ++this.#attempted
    const accepted = '(SELECT coalesce(max(accepted_at), 0) FROM accepted_timeline) AS accepted'
    const [row] = await (expected === undefined
      ? primary.query<{ accepted: number }>(
          // A process that was killed has left its row.
          `WITH abandoned AS (
             DELETE FROM process_mark WHERE marked_at < now() - interval '1 year' AND process_id <> $1
           )
           INSERT INTO process_mark (process_id, mark) VALUES ($1, $2)
           ON CONFLICT (process_id) DO UPDATE SET mark = excluded.mark, marked_at = now() RETURNING ${accepted}`,
          [this.#processId, mark],
        )
      : primary.query<{ accepted: number }>(
          `UPDATE process_mark SET mark = $2, marked_at = now()
           WHERE process_id = $1 AND mark >= $3 RETURNING ${accepted}`,
          [this.#processId, mark, expected],
        ))
    // The connections may lead to another server than before, as through PgBouncer.
    if (row === undefined) primary.reconnect()
    else if (this.#mark === expected) {
      this.#mark = mark
      this.#accepted = row.accepted
    }
  }

  async #read(client: pg.ClientBase): Promise<{ mark: number | null; accepted: number }> {
    try {
      const { rows } = await client.query<{ mark: number | null; accepted: number }>(
        `SELECT (SELECT mark FROM process_mark WHERE process_id = $1) AS mark,
           (SELECT coalesce(max(accepted_at), 0) FROM accepted_timeline) AS accepted`,
        [this.#processId],
      )
      return rows[0] ?? { mark: null, accepted: 0 }
    } catch (error) {
      // The tables are older than the migration.
      if (errorCodeOf(error) === undefinedTable) return { mark: null, accepted: 0 }
      throw error
    }
  }

  #setRefused(isRefused: boolean): void {
    if (isRefused === this.#isRefused) return
    this.#isRefused = isRefused
    this.#onChange(isRefused)
  }
}

/** Makes processes accept the current primary although it may lack acknowledged changes. Numbers of acceptances increase. */
export const acceptTimeline = `
  INSERT INTO accepted_timeline (accepted_at)
  SELECT greatest(max(accepted_at) + 1, $1) FROM accepted_timeline`
