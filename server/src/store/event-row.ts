import type { Event, EventType } from '../domain/event/event.ts'
import type { Environment } from '../domain/environment.ts'

/** Columns of an event, without those of its position. */
export const eventColumns =
  'workspace_id, environment, event_id, type, team_id, provided_id, revision, token_hash'

export interface EventRow {
  readonly workspace_id: number
  readonly environment: Environment
  readonly event_id: string
  readonly type: EventType
  readonly team_id: number | null
  readonly provided_id: string | null
  readonly revision: number | null
  readonly token_hash: Uint8Array | null
}

/** Maximum number of events that one transaction deletes. */
export const maxBatchEvents = 1000

export function eventOf(row: EventRow): Event {
  return {
    workspaceId: row.workspace_id,
    environment: row.environment,
    eventId: row.event_id,
    type: row.type,
    userGroup: row.team_id === null ? null : { teamId: row.team_id, providedId: row.provided_id as string },
    revision: row.revision,
    tokenHash: row.token_hash,
  }
}
