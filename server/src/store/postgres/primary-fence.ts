import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import { PostgresFailure, primaryBehind } from './postgres-fault.ts'

/** Interval of marks, in milliseconds. */
const intervalMs = 1000
const undefinedTable = '42P01'

/** An audit event of an acknowledged change. */
export interface AcknowledgedEvent extends TenantScope {
  readonly eventId: string
}

export interface MarkedPrimary {
  query<Row>(statement: string, values: readonly unknown[]): Promise<Row[]>
  /** Makes every operation use a new connection, which is checked. */
  reconnect(): void
}

/**
 * Refuses a primary that lacks changes which this process saw acknowledged, such as an old primary that resumes after a failover
 * (decision 0038). Once a second, while operations succeed, the process writes a higher mark to a row of its own. A primary whose
 * row has a lower mark, or none, or that lacks an event since the mark, is refused until it has them, or until an operator accepts
 * the loss.
 */
export class PrimaryFence {
  readonly #onChange: (isRefused: boolean) => void
  readonly #processId = randomUUID()
  #attempted = 0
  /** The last acknowledged mark. Undefined before the first, and after a loss was accepted. */
  #mark: number | undefined
  /** The last acceptance at the last acknowledged mark. */
  #accepted = 0
  /** Events since the last acknowledged mark, oldest first. */
  #events: AcknowledgedEvent[] = []
  readonly #maxEvents: number
  #isRefused = false

  constructor(connections: number, onChange: (isRefused: boolean) => void) {
    this.#maxEvents = connections
    this.#onChange = onChange
  }

  get isRefused(): boolean {
    return this.#isRefused
  }

  /**
   * Adds an event of a committed statement. Keeps one for each connection: of that many statements, at least one was sent after all
   * earlier ones were acknowledged, so a primary with these events has the earlier ones too.
   */
  acknowledge(event: AcknowledgedEvent): void {
    if (this.#events.push(event) > this.#maxEvents) this.#events.shift()
  }

  forgetEvents(): void {
    this.#events = []
  }

  /**
   * Checks the server of a new connection.
   * @param isUsed returns whether operations use or need this server. A slow probe may end after another one was found
   * @throws PostgresFailure if it lacks acknowledged changes
   */
  async check(client: pg.ClientBase, isUsed: () => boolean): Promise<void> {
    const expected = this.#mark
    if (expected === undefined) return
    const { has_all: hasAll, accepted } = await this.#read(client, expected)
    // Undefined if another connection found an acceptance meanwhile.
    if (this.#mark === undefined || hasAll) this.#setRefused(false)
    else if (accepted > this.#accepted) {
      this.#mark = undefined
      this.forgetEvents()
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
    const covered = new Set(this.#events)
    const { hasAll, values } = this.#expectation(expected ?? 0)
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
          `UPDATE process_mark SET mark = $${values.length + 1}, marked_at = now()
           WHERE ${hasAll} RETURNING ${accepted}`,
          [...values, mark],
        ))
    // The connections may lead to another server than before, as through PgBouncer.
    if (row === undefined) primary.reconnect()
    else if (this.#mark === expected) {
      this.#mark = mark
      this.#accepted = row.accepted
      this.#events = this.#events.filter((event) => !covered.has(event))
    }
  }

  async #read(client: pg.ClientBase, expected: number): Promise<{ has_all: boolean; accepted: number }> {
    const { hasAll, values } = this.#expectation(expected)
    try {
      const { rows } = await client.query<{ has_all: boolean; accepted: number }>(
        `SELECT EXISTS (SELECT FROM process_mark WHERE ${hasAll}) AS has_all, ${accepted}`,
        values,
      )
      return rows[0] as { has_all: boolean; accepted: number }
    } catch (error) {
      // The tables are older than the migration.
      if (errorCodeOf(error) === undefinedTable) return { has_all: false, accepted: 0 }
      throw error
    }
  }

  /** Returns a condition on the row of this process, and its parameters. */
  #expectation(mark: number): { hasAll: string; values: unknown[] } {
    const events = this.#events
    const hasMark = 'process_id = $1 AND mark >= $2'
    const values = [this.#processId, mark]
    if (events.length === 0) return { hasAll: hasMark, values }
    return {
      hasAll: `${hasMark} AND ${hasEvents}`,
      values: [
        ...values,
        events.map(({ workspaceId }) => workspaceId),
        events.map(({ environment }) => environment),
        events.map(({ eventId }) => eventId),
      ],
    }
  }

  #setRefused(isRefused: boolean): void {
    if (isRefused === this.#isRefused) return
    this.#isRefused = isRefused
    this.#onChange(isRefused)
  }
}

const hasEvents = `NOT EXISTS (
  SELECT FROM unnest($3::bigint[], $4::text[], $5::uuid[]) AS known (workspace_id, environment, event_id)
  WHERE NOT EXISTS (
    SELECT FROM audit_event
    WHERE (workspace_id, environment, event_id) = (known.workspace_id, known.environment, known.event_id)
  )
)`
const accepted = '(SELECT coalesce(max(accepted_at), 0) FROM accepted_timeline) AS accepted'

/** Makes processes accept the current primary although it may lack acknowledged changes. Numbers of acceptances increase. */
export const acceptTimeline = `
  INSERT INTO accepted_timeline (accepted_at)
  SELECT greatest(max(accepted_at) + 1, $1) FROM accepted_timeline`
