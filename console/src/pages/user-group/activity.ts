import type { AuditEvent } from '../audit/search.ts'
import type { UsageDay } from '../../api/usage.ts'
import type { Change } from './changes.ts'

/** An event of the audit log, a change of the fields, or the views of a day. */
export interface Entry {
  readonly at: string
  readonly kind: Kind
  readonly event?: AuditEvent
  /** Undefined also if the version of the event is not kept. */
  readonly change?: Change
  readonly views?: UsageDay
}

/** Kinds of entries, in the order of the filter. */
export const kinds = {
  views: 'Views',
  edits: 'Edits',
  token: 'Token',
  sessions: 'Sessions',
  state: 'Suspended and deleted',
} as const

export type Kind = keyof typeof kinds

export interface ActivitySearch {
  readonly kind?: Kind
}

/** Reads the filter from an address. */
export function readActivitySearch({ kind }: Record<string, unknown>): ActivitySearch {
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) ? { kind: kind as Kind } : {}
}

export function kindOf({ action }: AuditEvent): Kind {
  switch (action) {
    case 'user_group.viewed_as':
      return 'views'
    case 'user_group.token_rotated':
    case 'user_group.grace_period_ended':
      return 'token'
    case 'user_group.sessions_ended':
      return 'sessions'
    case 'user_group.created':
    case 'user_group.updated':
      return 'edits'
    default:
      return 'state'
  }
}

interface Sources {
  readonly events: readonly AuditEvent[]
  /** True if the audit log has earlier events. */
  readonly hasEarlierEvents: boolean
  readonly changes: readonly Change[]
  readonly days: readonly UsageDay[]
}

/** Merges the sources, the newest first, back to the oldest loaded event. */
export function entriesOf({ events, hasEarlierEvents, changes, days }: Sources): Entry[] {
  const oldest = hasEarlierEvents ? (events.at(-1)?.occurred_at ?? '') : ''
  const unmatched = [...changes]
  const ofEvents = events.map((event): Entry => {
    const kind = kindOf(event)
    // A change has the time of its event.
    const index =
      kind === 'edits' ? unmatched.findIndex(({ state }) => state.updated_at === event.occurred_at) : -1
    const [change] = index === -1 ? [] : unmatched.splice(index, 1)
    return { at: event.occurred_at, kind, event, ...(change !== undefined && { change }) }
  })
  return [
    ...ofEvents,
    // Their events were removed from the audit log.
    ...unmatched.map((change): Entry => ({ at: change.state.updated_at, kind: 'edits', change })),
    ...days
      .filter(({ user_groups }) => user_groups > 0)
      .map((views): Entry => ({ at: `${views.day}T23:59:59.999Z`, kind: 'views', views })),
  ]
    .filter(({ at }) => at >= oldest)
    .sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0))
}
