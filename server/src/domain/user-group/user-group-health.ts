import { mappingEntries, type MappingEntry, type ResolvedEntry } from '../data-source/data-source.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { locationOf } from './location.ts'
import { searchBudgetMs, type Page } from '../util/page.ts'
import type { Clock } from '../util/clock.ts'
import type { TokenlessUserGroup } from './user-group.ts'
import type { UserGroupManagement, UserGroupSearch } from './user-group-management.ts'

type Ports = Pick<Store, 'dataSources' | 'introspections'>

/** Problems because of which the dashboards of a user group may be empty. */
export const healthProblems = ['no_mapping', 'unresolved', 'never_viewed'] as const

export type HealthProblem = (typeof healthProblems)[number]

interface UserGroupHealth {
  /** Number of mapping entries. */
  readonly mappingEntries: number
  /** Number of entries that name no registered data source; 0 if no schema is registered. */
  readonly unresolvedEntries: number
  /** Rounded down to the minute; null if there was none. */
  readonly lastIntrospectedAt: number | null
}

/** Maximum number of mapping entries to resolve in one store operation: some milliseconds, in which other requests wait. */
const maxEntries = 4000

export type WithHealth = TokenlessUserGroup & { readonly health: UserGroupHealth }

/** Searches user groups with their health. No index has it, so it is computed for each user group that a search finds. */
export class HealthSearch {
  readonly #store: Ports
  readonly #management: UserGroupManagement
  readonly #clock: Clock

  constructor(parts: { store: Ports; management: UserGroupManagement; clock: Clock }) {
    this.#store = parts.store
    this.#management = parts.management
    this.#clock = parts.clock
  }

  /**
   * Returns only user groups with the problem, if one is given. Returns after about twice `searchBudgetMs`, with fewer than `limit`
   * user groups or none even if more follow.
   * @throws Fault `unavailable`
   */
  async search(
    tenantScope: TenantScope,
    search: UserGroupSearch,
    { position: start, limit }: { position: string | null; limit: number },
    problem?: HealthProblem,
  ): Promise<Page<WithHealth>> {
    const end = this.#clock.monotonic() + searchBudgetMs
    const items: WithHealth[] = []
    let position = start
    do {
      const page = { position, limit: limit - items.length }
      const found = await this.#management.search(tenantScope, search, page)
      const healths = await healthOf(this.#store, tenantScope, found.items)
      const all = found.items.map((userGroup, i) => ({ ...userGroup, health: healths[i] as UserGroupHealth }))
      items.push(...all.filter(({ health }) => problem === undefined || hasProblem(health, problem)))
      position = found.position
    } while (
      problem !== undefined &&
      position !== null &&
      items.length < limit &&
      this.#clock.monotonic() < end
    )
    return { items, position }
  }
}

/** Computes the health of some user groups from their mappings, the registry and their last introspections. */
async function healthOf(
  store: Ports,
  { workspaceId, environment }: TenantScope,
  userGroups: readonly TokenlessUserGroup[],
): Promise<UserGroupHealth[]> {
  if (userGroups.length === 0) return []
  const entriesOf = userGroups.map(({ mapping }) => mappingEntries(mapping))
  // User groups usually share schemas and often data sources, so look up each entry once.
  const entries = new Map(entriesOf.flat().map((entry) => [keyOf(entry), entry]))
  const [schemas, introspectedAt] = await Promise.all([
    store.dataSources.listSchemas(workspaceId, environment),
    store.introspections.findLast(workspaceId, userGroups.map(locationOf)),
  ])
  const unresolved = new Set<string>()
  const all = schemas.length === 0 ? [] : [...entries]
  for (let i = 0; i < all.length; i += maxEntries) {
    const some = all.slice(i, i + maxEntries)
    const resolved: readonly ResolvedEntry[] = await store.dataSources.resolveEntries(
      workspaceId,
      environment,
      some.map(([, entry]) => entry),
    )
    for (const [j, [key]] of some.entries()) if (!resolved[j]?.dataSource) unresolved.add(key)
  }
  return entriesOf.map((ofGroup, i) => ({
    mappingEntries: ofGroup.length,
    unresolvedEntries: ofGroup.filter((entry) => unresolved.has(keyOf(entry))).length,
    lastIntrospectedAt: introspectedAt[i] ?? null,
  }))
}

function hasProblem(health: UserGroupHealth, problem: HealthProblem): boolean {
  switch (problem) {
    case 'no_mapping':
      return health.mappingEntries === 0
    case 'unresolved':
      return health.unresolvedEntries > 0
    case 'never_viewed':
      return health.lastIntrospectedAt === null
  }
}

const keyOf = (entry: MappingEntry) => JSON.stringify(entry)
