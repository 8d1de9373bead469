import { mappingEntries, type MappingEntry } from '../data-source/data-source.ts'
import type { JsonText } from '../json/json-text.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { locationOf } from './location.ts'
import { allPages, countParts, fillPage, type Page, type Total } from '../util/page.ts'
import type { Clock } from '../util/clock.ts'
import type { TokenlessUserGroup } from './user-group.ts'
import { listBatchSize, type SearchPage, type UserGroupManagement } from './user-group-management.ts'
import type { HealthProblem, UserGroupSearch } from './user-group-search-store.ts'

type Ports = Pick<Store, 'dataSources' | 'introspections'>

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
    { sort, ...page }: SearchPage,
    problem?: HealthProblem,
  ): Promise<Page<WithHealth>> {
    return fillPage(this.#clock, page, async (part) => {
      const { items, position } = await this.#management.search(tenantScope, search, { ...part, sort })
      const healths = await healthOf(this.#store, tenantScope, items)
      const all = items.map((userGroup, i) => ({ ...userGroup, health: healths[i] as UserGroupHealth }))
      const some = all.filter(({ health }) => problem === undefined || hasProblem(health, problem))
      return { items: some, position }
    })
  }

  /** Lists all user groups that a search finds, in batches. It is not a snapshot of one time. @throws Fault `unavailable` */
  listAll(
    tenantScope: TenantScope,
    search: UserGroupSearch,
    problem?: HealthProblem,
  ): AsyncGenerator<readonly TokenlessUserGroup[]> {
    return allPages<TokenlessUserGroup>((position) => {
      const page = { position, limit: listBatchSize }
      return problem === undefined
        ? this.#management.search(tenantScope, search, page)
        : this.search(tenantScope, search, page, problem)
    })
  }

  /** Counts the user groups that a search finds, for about twice `searchBudgetMs`. @throws Fault `unavailable` */
  async count(tenantScope: TenantScope, search: UserGroupSearch, problem?: HealthProblem): Promise<Total> {
    if (problem === undefined) return this.#management.count(tenantScope, search)
    return countParts(this.#clock, async (start) => {
      const page = { position: start, limit: listBatchSize }
      const { items, position } = await this.search(tenantScope, search, page, problem)
      return { count: items.length, position }
    })
  }
}

/** Computes the health of some user groups from their mappings, the registry and their last introspections. */
async function healthOf(
  store: Ports,
  tenantScope: TenantScope,
  userGroups: readonly TokenlessUserGroup[],
): Promise<UserGroupHealth[]> {
  if (userGroups.length === 0) return []
  const [unresolved, introspectedAt] = await Promise.all([
    countUnresolved(
      store,
      tenantScope,
      userGroups.map(({ mapping }) => mapping),
    ),
    store.introspections.findLast(tenantScope.workspaceId, userGroups.map(locationOf)),
  ])
  return userGroups.map(({ mapping }, i) => ({
    mappingEntries: mappingEntries(mapping).length,
    unresolvedEntries: unresolved[i] ?? 0,
    lastIntrospectedAt: introspectedAt[i] ?? null,
  }))
}

/** Counts the entries of each mapping that name no registered data source; 0 if no schema is registered. */
export async function countUnresolved(
  store: Pick<Store, 'dataSources'>,
  scope: TenantScope,
  mappings: readonly (JsonText | null)[],
): Promise<number[]> {
  const entriesOf = mappings.map(mappingEntries)
  // User groups usually share schemas and often data sources, so look up each entry once.
  const entries = new Map(entriesOf.flat().map((entry) => [keyOf(entry), entry]))
  const schemas = entries.size === 0 ? [] : await store.dataSources.listSchemas(scope)
  const unresolved = new Set<string>()
  const all = schemas.length === 0 ? [] : [...entries]
  for (let i = 0; i < all.length; i += maxEntries) {
    const some = all.slice(i, i + maxEntries)
    const wanted = some.map(([, entry]) => entry)
    const resolved = await store.dataSources.resolveEntries(scope, wanted)
    for (const [j, [key]] of some.entries()) if (!resolved[j]?.dataSource) unresolved.add(key)
  }
  return entriesOf.map((ofGroup) => ofGroup.filter((entry) => unresolved.has(keyOf(entry))).length)
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
