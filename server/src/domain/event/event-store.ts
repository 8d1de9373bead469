import type { Event, EventPosition } from './event.ts'

/**
 * The events of all workspaces, in one order. Changes append them in the same transaction. An event becomes readable only when no
 * earlier event can appear any more, so that a reader that continues after a position misses none.
 */
export interface EventStore {
  /**
   * Returns the position of the last readable event. Earlier events can no longer appear.
   * @throws Fault `not_implemented` if the store has no order of events (Citus)
   */
  head(): Promise<EventPosition>

  /**
   * Returns the events after a position, oldest first. Null if the position is of another store, ahead of this one, or if events
   * after it have been deleted.
   * @throws Fault `not_implemented` if the store has no order of events (Citus)
   */
  read(after: EventPosition, limit: number): Promise<EventPage | null>

  /** Deletes events that are older than `before`, in batches, and returns how many. */
  deleteOlderThan(before: number): Promise<number>
}

export interface EventPage {
  readonly events: readonly PositionedEvent[]
  /** The last event of this page, or the position before it if there is none. Survives a crash of the store. */
  readonly position: EventPosition
  /** All events up to here have been read. May be ahead of `position`. After a crash, the store may give such a position again. */
  readonly readUpTo: EventPosition
  /**
   * The first position that a later change can have. Once all events up to here have been read, they include every change that was
   * committed before this page was read.
   */
  readonly nextPosition: EventPosition
  /** False if the database has failed over since the position before this page: changes that were read may not have survived. */
  readonly isContinuous: boolean
}

export interface PositionedEvent extends Event {
  readonly position: EventPosition
}
