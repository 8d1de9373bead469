import { firstEventId, type AuditAction, type AuditEvent } from './audit-event.ts'
import type { Clock } from '../util/clock.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { searchBudgetMs, type Page } from '../user-group/user-group-management.ts'

/** All that is given must hold. */
export interface AuditFilter {
  /** From then on, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined
  /** Before then. */
  readonly until?: number | undefined
  readonly teamId?: number | undefined
  /** Of the user group that has this id; where none has, of those that had it. */
  readonly providedId?: string | undefined
  readonly action?: AuditAction | undefined
  readonly author?: string | undefined
  readonly requestId?: string | undefined
}

/** How many events are looked at in one call of the store, where not all of them match. */
const lookedAtOnce = 1000

/** What was changed in a workspace and environment, and by whom. */
export class AuditLog {
  readonly #store: Store
  readonly #clock: Pick<Clock, 'monotonic'>

  constructor(parts: { store: Store; clock: Pick<Clock, 'monotonic'> }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /**
   * The newest first. Answers within about `searchBudgetMs`: it may have found fewer than `limit`, and none, and say where
   * to go on.
   * @throws Fault `unavailable`
   */
  async list(
    tenantScope: TenantScope,
    filter: AuditFilter,
    { position: start, limit }: { position: string | null; limit: number },
  ): Promise<Page<AuditEvent>> {
    const { workspaceId, environment } = tenantScope
    const { since = 0, until = Infinity } = filter
    const { teamId, ...rest } = await this.#withTeamId(tenantScope, filter)
    const matches = matcherOf(rest)
    const end = this.#clock.monotonic() + searchBudgetMs
    const items: AuditEvent[] = []
    let position = start ?? firstEventId(until)
    do {
      const wanted = limit - items.length
      const slice = matches === null ? wanted : lookedAtOnce
      const events = await this.#store.audit.list({
        workspaceId,
        environment,
        ...(teamId !== undefined && { teamId }),
        since,
        beforeEventId: position,
        limit: slice,
      })
      const found = (matches === null ? events : events.filter(matches)).slice(0, wanted)
      items.push(...found)
      const last = found.length === wanted ? found.at(-1) : events.at(-1)
      const isEnd = events.length < slice && last === events.at(-1)
      if (last === undefined || isEnd) return { items, position: null }
      position = last.eventId
    } while (items.length < limit && this.#clock.monotonic() < end)
    return { items, position }
  }

  async #withTeamId({ workspaceId, environment }: TenantScope, filter: AuditFilter): Promise<AuditFilter> {
    const { providedId, ...rest } = filter
    if (providedId === undefined || rest.teamId !== undefined) return filter
    const userGroup = await this.#store.userGroups.find({ workspaceId, environment, providedId })
    return userGroup === null ? filter : { ...rest, teamId: userGroup.teamId }
  }
}

/** Null where every event matches. */
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
    (author === undefined || event.author === author) &&
    (requestId === undefined || event.requestId === requestId)
}
