import { firstEventId } from '../../domain/audit/audit-event.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { EventPage, EventStore } from '../../domain/event/event-store.ts'
import { deletedAtOnce, eventColumns, eventOf, type EventRow } from '../event-row.ts'
import { refuseOnCitus, type Distribution } from './distribution.ts'
import { prepared, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'

interface PositionRow {
  readonly position: EventPosition
}

/** A position: the store, the timeline, a transaction id, and the number of an event or 0. All earlier events are readable. */
const positionOf = (timeline: string, transactionId: string, number: string) =>
  `concat((SELECT store_id FROM event_log), '-', ${timeline}, '.', ${transactionId}, '.', ${number})`

// All transactions before the oldest running one have ended, and their events are visible to this statement.
const oldestRunning = 'pg_snapshot_xmin(pg_current_snapshot())'

const firstUnassigned = 'pg_snapshot_xmax(pg_current_snapshot())'

const selectHead: Statement<PositionRow> = prepared(
  'event_select_head',
  `SELECT ${positionOf('current_timeline()', oldestRunning, '0')} AS position`,
)

/** One statement, so that all parts have the same snapshot. Without events, the only row is the head. */
const select: Statement<
  PositionRow & { [Column in keyof EventRow]: EventRow[Column] | null } & {
    readonly next_position: EventPosition
    readonly is_lost: boolean
  }
> = prepared(
  'event_select',
  `SELECT ${positionOf('coalesce(event.timeline, head.timeline)', 'coalesce(event.transaction_id, head.transaction_id)', 'coalesce(event.number, 0)')} AS position,
          ${positionOf('head.timeline', firstUnassigned, '0')} AS next_position,
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
       SELECT timeline, transaction_id, number FROM event WHERE event_id < $1
       ORDER BY timeline, transaction_id, number LIMIT $2
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

/** The events, in order of transactions. The statements of the changes append them. */
export class Events implements EventStore {
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(retry: Retry, distribution: Distribution) {
    this.#retry = retry
    this.#distribution = distribution
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
    return { events, position: rows.at(-1)?.position ?? after, nextPosition: first.next_position }
  }

  async deleteOlderThan(before: number): Promise<number> {
    for (let total = 0; ;) {
      const deleted = await this.#retry.change(deleteBatch, [firstEventId(before), deletedAtOnce])
      total += deleted.length
      if (deleted.length < deletedAtOnce) return total
    }
  }
}

const maxTimeline = 2 ** 31 - 1
const maxNumber = 2n ** 63n - 1n
