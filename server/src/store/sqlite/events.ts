import type { Database, Statement } from 'better-sqlite3'
import { firstEventId } from '../../domain/audit/audit-event.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { EventPage, EventStore } from '../../domain/event/event-store.ts'
import { maxBatchEvents, eventColumns, eventOf, type EventRow } from '../event-row.ts'
import type { Synchronous } from './port.ts'

type Row = EventRow & { readonly position: number }

/** The events, in order of their row ids. `AuditLog` appends them. */
export class Events implements Synchronous<Omit<EventStore, 'deleteOlderThan'>> {
  readonly #selectStoreId: Statement<[], string>
  readonly #selectFirst: Statement<[], number>
  readonly #selectLast: Statement<[], number>
  readonly #select: Statement<[number, number], Row>
  readonly #delete: Statement<[number, string]>

  constructor(database: Database) {
    this.#selectStoreId = database.prepare<[], string>('SELECT store_id FROM event_log').pluck()
    this.#selectFirst = database.prepare<[], number>('SELECT min(position) FROM event').pluck()
    this.#selectLast = database.prepare<[], number>('SELECT max(position) FROM event').pluck()
    this.#select = database.prepare(
      `SELECT position, ${eventColumns} FROM event WHERE position > ? ORDER BY position LIMIT ?`,
    )
    this.#delete = database.prepare(
      `WITH oldest AS (SELECT position, event_id FROM event ORDER BY position LIMIT ?)
       DELETE FROM event
       WHERE position < (SELECT coalesce(min(position) FILTER (WHERE event_id >= ?), max(position) + 1) FROM oldest)
         AND position < (SELECT max(position) FROM event)`,
    )
  }

  head(): EventPosition {
    return `${this.#selectStoreId.get()}-${this.#selectLast.get() ?? 0}`
  }

  read(after: EventPosition, limit: number): EventPage | null {
    const [storeId, number = ''] = after.split('-')
    const position = Number(number)
    const last = this.#selectLast.get() ?? 0
    if (storeId !== this.#selectStoreId.get() || !(position <= last)) return null
    const positionOf = (number: number) => `${storeId}-${number}`
    const first = this.#selectFirst.get() ?? 1
    if (position + 1 < first) return null
    const events = this.#select
      .all(position, limit)
      .map((row) => ({ ...eventOf(row), position: positionOf(row.position) }))
    const reached = events.at(-1)?.position ?? after
    return {
      events,
      position: reached,
      readUpTo: reached,
      nextPosition: positionOf(last),
      isContinuous: true,
    }
  }

  /** Deletes a batch of the first events, up to one that is not old: `read` recognizes only missing first events. */
  deleteBatch(before: number): { count: number; isDone: boolean } {
    const { changes } = this.#delete.run(maxBatchEvents, firstEventId(before))
    return { count: changes, isDone: changes < maxBatchEvents }
  }
}
