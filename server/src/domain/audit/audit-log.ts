import { firstEventId, readRequestId, type AuditAction, type AuditEvent } from './audit-event.ts'
import type { Caller } from '../caller.ts'
import type { Clock } from '../util/clock.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { allPages, fillPage, type Page, type PageQuery } from '../util/page.ts'

type Ports = Pick<Store, 'audit' | 'userGroups'>

/** Conditions that must all hold. */
export interface AuditFilter {
  /** Earliest time, inclusive, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined
  /** Latest time, exclusive, in milliseconds since the Unix epoch. */
  readonly until?: number | undefined
  readonly teamId?: number | undefined
  /** The user group that has this id, or, if none has, all that had it. */
  readonly providedId?: string | undefined
  readonly action?: AuditAction | undefined
  readonly author?: string | undefined
  readonly requestId?: string | undefined
}

/** Events read from the store at once if they must be filtered. */
const filterBatchSize = 1000

/** The audit log of a workspace and environment. */
export class AuditLog {
  readonly #store: Ports
  readonly #clock: Clock

  constructor(parts: { store: Ports; clock: Clock }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /**
   * Lists events, newest first. Returns after about `searchBudgetMs`, so a page may have fewer than `limit` events, or none, even
   * if more follow.
   * @throws Fault `unavailable`
   */
  async list(
    tenantScope: TenantScope,
    filter: AuditFilter,
    { position: start, limit }: PageQuery,
  ): Promise<Page<AuditEvent>> {
    const { workspaceId, environment } = tenantScope
    const { since = 0, until = Infinity } = filter
    const { teamId, ...rest } = await this.#withTeamId(tenantScope, filter)
    const matches = matcherOf(rest)
    return fillPage(this.#clock, { position: start, limit }, async ({ position, limit: wanted }) => {
      const batchSize = matches === null ? wanted : filterBatchSize
      const events = await this.#store.audit.list({
        workspaceId,
        environment,
        ...(teamId !== undefined && { teamId }),
        since,
        beforeEventId: position ?? firstEventId(until),
        limit: batchSize,
      })
      const items = (matches === null ? events : events.filter(matches)).slice(0, wanted)
      const last = items.length === wanted ? items.at(-1) : events.at(-1)
      const isEnd = events.length < batchSize && last === events.at(-1)
      return { items, position: last === undefined || isEnd ? null : last.eventId }
    })
  }

  /**
   * Records an export, and returns the events up to then in batches, the newest first.
   * @param conditions those of the filter, for the record
   * @throws Fault `unavailable`
   */
  async export(
    caller: Caller,
    filter: AuditFilter,
    conditions: object,
  ): Promise<AsyncGenerator<readonly AuditEvent[]>> {
    const now = this.#clock.now()
    await this.#store.audit.recordExport({ ...caller, conditions, now })
    const untilNow = { ...filter, until: Math.min(filter.until ?? Infinity, now) }
    return allPages((position) => this.list(caller, untilNow, { position, limit: filterBatchSize }))
  }

  async #withTeamId({ workspaceId, environment }: TenantScope, filter: AuditFilter): Promise<AuditFilter> {
    const { providedId, ...rest } = filter
    if (providedId === undefined || rest.teamId !== undefined) return filter
    const userGroup = await this.#store.userGroups.find({ workspaceId, environment, providedId })
    return userGroup === null ? filter : { ...rest, teamId: userGroup.teamId }
  }
}

/** Returns a predicate, or null if every event matches. */
function matcherOf({
  providedId,
  action,
  author,
  requestId,
}: AuditFilter): ((event: AuditEvent) => boolean) | null {
  if ([providedId, action, author, requestId].every((condition) => condition === undefined)) return null
  return (event) =>
    (providedId === undefined || event.userGroup?.providedId === providedId) &&
    (action === undefined || event.action === action) &&
    (author === undefined ||
      event.author === author ||
      (author === 'cli:' && event.author.startsWith(author))) &&
    (requestId === undefined || readRequestId(event).requestId === requestId)
}
