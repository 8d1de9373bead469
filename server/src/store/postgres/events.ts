import { firstEventId } from '../../domain/audit/audit-event.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { EventPage, EventStore } from '../../domain/event/event-store.ts'
import { maxBatchEvents, eventColumns, eventOf, type EventRow } from '../event-row.ts'
import { refuseOnCitus, type Distribution } from './citus/distribution.ts'
import { prepared, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'

interface PositionRow {
  readonly position: EventPosition
}

/**
 * A position: the store, the timeline, a transaction id, and the number of an event or 0. Only positions of events last: after a
 * crash, PostgreSQL assigns the ids of transactions that wrote nothing again.
 */
const positionOf = (timeline: string, transactionId: string, number: string) =>
  `concat((SELECT store_id FROM event_log), '-', ${timeline}, '.', ${transactionId}, '.', ${number})`

// All transactions before the oldest running one have ended, and their events are visible to this statement.
const oldestRunning = 'pg_snapshot_xmin(pg_current_snapshot())'

const firstUnassigned = 'pg_snapshot_xmax(pg_current_snapshot())'

const selectHead: Statement<PositionRow> = prepared(
  'event_select_head',
  `SELECT ${positionOf('current_timeline()', 'last.transaction_id', 'last.number')} AS position
   FROM (
     (SELECT timeline, transaction_id, number FROM event WHERE transaction_id < ${oldestRunning}
      ORDER BY timeline DESC, transaction_id DESC, number DESC LIMIT 1)
     UNION ALL
     SELECT timeline, transaction_id, number FROM event_log
   ) AS last
   ORDER BY last.timeline DESC, last.transaction_id DESC, last.number DESC LIMIT 1`,
)

/** One statement, so that all parts have the same snapshot. Without events, there is one row. */
const select: Statement<
  { [Column in keyof EventRow]: EventRow[Column] | null } & {
    readonly position: EventPosition
    readonly head_position: EventPosition
    readonly next_position: EventPosition
    readonly timeline: number
    readonly is_lost: boolean
  }
> = prepared(
  'event_select',
  `SELECT ${positionOf('event.timeline', 'event.transaction_id', 'event.number')} AS position,
          ${positionOf('head.timeline', 'head.transaction_id', '0')} AS head_position,
          ${positionOf('head.timeline', firstUnassigned, '0')} AS next_position,
          head.timeline,
          (start.timeline, start.transaction_id, start.number) < (SELECT timeline, transaction_id, number FROM event_log)
            OR (start.timeline, start.transaction_id) > (head.timeline, head.transaction_id)
            OR $1 <> (SELECT store_id FROM event_log) AS is_lost,
          ${eventColumns}
   FROM (SELECT $2::integer AS timeline, $3::xid8 AS transaction_id, $4::bigint AS number) AS start
   CROSS JOIN (SELECT current_timeline() AS timeline, ${oldestRunning} AS transaction_id) AS head
   LEFT JOIN LATERAL (
     SELECT * FROM event
     WHERE (timeline, transaction_id, number) > ($2::integer, $3::xid8, $4::bigint) AND transaction_id < ${oldestRunning}
     ORDER BY timeline, transaction_id, number LIMIT $5
   ) AS event ON true
   ORDER BY event.timeline, event.transaction_id, event.number`,
)

const deleteBatch: Statement<unknown> = prepared(
  'event_delete',
  `WITH deleted AS (
     DELETE FROM event WHERE (timeline, transaction_id, number) IN (
       SELECT timeline, transaction_id, number
       FROM (SELECT * FROM event ORDER BY timeline, transaction_id, number LIMIT $2) AS oldest
       WHERE event_id < $1 AND transaction_id < ${oldestRunning}
     )
     RETURNING timeline, transaction_id, number
   ), newest AS (
     SELECT * FROM deleted ORDER BY timeline DESC, transaction_id DESC, number DESC LIMIT 1
   ), noted AS (
     UPDATE event_log SET timeline = newest.timeline, transaction_id = newest.transaction_id, number = newest.number
     FROM newest WHERE (newest.timeline, newest.transaction_id, newest.number)
       > (event_log.timeline, event_log.transaction_id, event_log.number)
   )
   SELECT 1 FROM deleted`,
)

/**
 * After `pg_upgrade` or a restored dump, events can be of timelines or transactions that this server has not reached. A reader would
 * wait for them, or skip the next ones.
 */
const removeForeign: Statement<unknown> = prepared(
  'event_remove_foreign',
  `WITH renewed AS (
     UPDATE event_log
     SET store_id = left(gen_random_uuid()::text, 8), timeline = 0, transaction_id = '0', number = 0
     WHERE (timeline, transaction_id) > (current_timeline(), ${firstUnassigned})
       OR EXISTS (SELECT 1 FROM event WHERE (timeline, transaction_id) >= (current_timeline(), ${firstUnassigned}))
     RETURNING 1
   )
   DELETE FROM event WHERE EXISTS (SELECT 1 FROM renewed)`,
)

/** The events, in order of transactions. The statements of the changes append them. */
export class Events implements EventStore {
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(retry: Retry, distribution: Distribution) {
    this.#retry = retry
    this.#distribution = distribution
  }

  /** Removes the events of another server from a database that was moved here. Call it when the store is opened. */
  async removeForeign(): Promise<void> {
    await this.#retry.change(removeForeign, [])
  }

  async head(): Promise<EventPosition> {
    refuseOnCitus(this.#distribution, 'The event feed needs')
    const [head] = await this.#retry.query(selectHead)
    return (head as PositionRow).position
  }

  async read(after: EventPosition, limit: number): Promise<EventPage | null> {
    refuseOnCitus(this.#distribution, 'The event feed needs')
    const [storeId, numbers = ''] = after.split('-')
    const [timeline = 0, transactionId = 0, number = 0] = numbers.split('.')
    if (Number(timeline) > maxTimeline || BigInt(transactionId) > maxNumber || BigInt(number) > maxNumber)
      return null
    const rows = await this.#retry.query(select, [storeId, timeline, transactionId, number, limit])
    const [first] = rows
    if (first === undefined || first.is_lost) return null
    const events = rows.flatMap(({ position, ...row }) =>
      row.event_id === null ? [] : [{ ...eventOf(row as EventRow), position }],
    )
    const last = events.at(-1)?.position ?? after
    const isLastPage = events.length < limit
    return {
      events,
      position: isLastPage ? last.replace(/-\d+/, `-${first.timeline}`) : last,
      readUpTo: isLastPage ? first.head_position : last,
      nextPosition: first.next_position,
      isContinuous: Number(timeline) === first.timeline,
    }
  }

  async deleteOlderThan(before: number): Promise<number> {
    for (let total = 0; ;) {
      const deleted = await this.#retry.change(deleteBatch, [firstEventId(before), maxBatchEvents])
      total += deleted.length
      if (deleted.length < maxBatchEvents) return total
    }
  }
}

const maxTimeline = 2 ** 31 - 1
const maxNumber = 2n ** 63n - 1n
