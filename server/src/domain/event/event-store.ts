import type { Event, EventPosition } from './event.ts'

/**
 * The events of all workspaces, in one order. Changes append them in the same transaction. An event becomes readable only when no
 * earlier event can appear any more, so that a reader that continues after a position misses none.
 */
export interface EventStore {
  /**
   * Returns the position up to which all events are readable now.
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
  /** All events up to here have been read. */
  readonly position: EventPosition
  /**
   * The first position that a later change can have. Once all events up to here have been read, they include every change that was
   * committed before this page was read.
   */
  readonly nextPosition: EventPosition
}

export interface PositionedEvent extends Event {
  readonly position: EventPosition
}
