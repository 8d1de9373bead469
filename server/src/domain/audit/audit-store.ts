import type { TenantScope } from '../tenant-scope.ts'
import type { Actor, AuditEvent } from './audit-event.ts'

/** The audit log. Events are appended by the changes that they record, in the same transaction. */
export interface AuditStore {
  /**
   * Returns events, newest first. With `teamId`, the creation event is missing if the user group was deleted and its
   * deleted row has expired.
   */
  list(query: ListAuditEvents): Promise<AuditEvent[]>

  /** Records that events were exported. */
  recordExport(command: ExportAuditEvents): Promise<void>

  /**
   * Deletes old events in batches, one transaction each, and returns how many. One event records the deletion. Events
   * appended meanwhile are kept.
   */
  prune(command: PruneAuditEvents): Promise<number>
}

export interface ListAuditEvents extends TenantScope {
  /** Returns events of every subject if left out. */
  readonly teamId?: number
  /** Earliest time of an event, in milliseconds since the Unix epoch. */
  readonly since: number
  /** Returns only events before this id. */
  readonly beforeEventId: string
  readonly limit: number
}

interface ExportAuditEvents extends TenantScope, Actor {
  /** Conditions of the export, for the details of the event. */
  readonly conditions: object
  readonly now: number
}

export interface PruneAuditEvents extends TenantScope, Actor {
  /** Deletes events older than this time, in milliseconds since the Unix epoch. */
  readonly before: number
  readonly now: number
}
