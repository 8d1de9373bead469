import {
  isNamedById,
  type DataSource,
  type MappingEntry,
  type ResolvedEntry,
} from '../data-source/data-source.ts'
import type { Caller } from '../caller.ts'
import { Fault } from '../fault.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Clock } from '../util/clock.ts'
import { allPages, searchBudgetMs, type Page, type PageQuery } from '../util/page.ts'
import {
  affectedOf,
  maxAffected,
  type AffectedUserGroups,
  type FindingKey,
  type FindingKind,
  type FindingStatus,
  type IsolationFinding,
} from './isolation-finding.ts'
import type { EntryCounts, UserGroupFilter } from './user-group-search-store.ts'
import type { TokenlessUserGroup } from './user-group.ts'
import type { UserGroupManagement } from './user-group-management.ts'

type Ports = Pick<Store, 'acceptedFindings' | 'dataSources' | 'userGroupSearch'>

/** Conditions that must all hold. */
export interface FindingFilter {
  readonly kind?: FindingKind | undefined
  readonly status?: FindingStatus | undefined
  /** Earliest time of the last change of an affected user group, inclusive, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined
  /** Latest time of that change, exclusive. */
  readonly until?: number | undefined
}

/** A finding without its acceptance. */
type Found = FindingKey & Pick<IsolationFinding, 'dataSource' | 'affected'>

type RegisteredDataSource = Pick<DataSource, 'id' | 'providedId' | 'name'> & {
  readonly schemaProvidedId: string
}

type IsolationPosition = { readonly dataSource: number } | { readonly entry: MappingEntry | null }

/** Concurrent lookups of an isolation check. */
const maxConcurrentLookups = 10
const exportedBatch = 200

/** Finds mappings that may show data to the wrong customers, or none. */
export class IsolationCheck {
  readonly #store: Ports
  readonly #management: UserGroupManagement
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>

  constructor(parts: {
    store: Ports
    management: UserGroupManagement
    clock: Pick<Clock, 'now' | 'monotonic'>
  }) {
    this.#store = parts.store
    this.#management = parts.management
    this.#clock = parts.clock
  }

  /** Position after the shared data sources. */
  readonly positionOfUnresolved = JSON.stringify({ entry: null } satisfies IsolationPosition)

  /**
   * Finds data sources that several user groups are mapped to, by provided id or id. If any schema is registered, also finds
   * entries that name no registered data source, and schemas that a mapping names by both of their ids; otherwise, entries that
   * several user groups share. Returns after about `searchBudgetMs`, so a page may have fewer findings than `limit`, or none, even if
   * more follow.
   * @throws Fault `validation_failed` (the position), `unavailable`
   */
  async list(
    tenantScope: TenantScope,
    filter: FindingFilter,
    { position: start, limit }: PageQuery,
  ): Promise<Page<IsolationFinding>> {
    const { workspaceId, environment } = tenantScope
    const end = this.#clock.monotonic() + searchBudgetMs
    const items: IsolationFinding[] = []
    let position: IsolationPosition | null =
      start === null ? { dataSource: 0 } : (JSON.parse(start) as IsolationPosition)
    const isRegistryUsed = await this.#isRegistryUsed(tenantScope)
    const isFull = () => items.length >= limit
    const isOver = () => isFull() || this.#clock.monotonic() >= end
    /** Checks candidates until the page is full or the time is over, and returns how many were checked. */
    const check = async <T>(
      candidates: readonly T[],
      find: (candidate: T) => Promise<Found | null>,
    ): Promise<number> => {
      let checked = 0
      while (checked < candidates.length && (checked === 0 || !isOver())) {
        const batch = candidates.slice(
          checked,
          checked + Math.min(maxConcurrentLookups, limit - items.length),
        )
        const found = (await Promise.all(batch.map(find))).filter((one) => one !== null)
        items.push(...(await this.#withAcceptances(tenantScope, found)).filter(matcherOf(filter)))
        checked += batch.length
      }
      return checked
    }
    let isAtEntries: boolean
    do {
      isAtEntries = 'entry' in position
      if ('dataSource' in position) {
        const afterId = position.dataSource
        const found = await this.#store.dataSources.listShared({ workspaceId, environment, afterId })
        const checked = await check(found.dataSources, (dataSource) =>
          this.#findShared(tenantScope, dataSource),
        )
        const last = found.dataSources[checked - 1]
        if (last !== undefined && checked < found.dataSources.length) position = { dataSource: last.id }
        else position = found.afterId === null ? { entry: null } : { dataSource: found.afterId }
      } else {
        const { entry: after } = position
        const { counts, isEnd } = await this.#store.userGroupSearch.countEntries({
          workspaceId,
          environment,
          after,
        })
        const candidates = await this.#candidates(tenantScope, counts, isRegistryUsed)
        const checked = await check(candidates, ({ entry, resolved }) =>
          this.#findOfEntry(tenantScope, entry, resolved, isRegistryUsed),
        )
        const last = checked < candidates.length ? candidates[checked - 1]?.entry : counts.at(-1)?.entry
        position = isEnd && checked === candidates.length ? null : { entry: last ?? null }
      }
      // Begins with the entries however slow the machine is, so that a page has everything where there is little.
    } while (position !== null && (!isOver() || (!isAtEntries && 'entry' in position && !isFull())))
    return { items, position: position && JSON.stringify(position) }
  }

  /** Lists all findings, in batches. @throws Fault `unavailable` */
  listAll(scope: TenantScope, filter: FindingFilter): AsyncGenerator<readonly IsolationFinding[]> {
    return allPages((position) => this.list(scope, filter, { position, limit: exportedBatch }))
  }

  /** @throws Fault `not_found`, `unavailable` */
  async find(tenantScope: TenantScope, key: FindingKey): Promise<IsolationFinding> {
    const found = await this.#findOne(tenantScope, key)
    if (found === null) throw new Fault('not_found', 'There is no such finding in this environment')
    const [finding] = await this.#withAcceptances(tenantScope, [found])
    return finding as IsolationFinding
  }

  /**
   * Accepts a finding until its user groups are others.
   * @param version that of the finding on which the decision is based
   * @throws Fault `not_found`, `revision_mismatch` (the finding has another version by now), `unavailable`
   */
  async accept(
    caller: Caller,
    { kind, entry }: FindingKey,
    { version, reason }: { readonly version: string; readonly reason: string },
  ): Promise<IsolationFinding> {
    const found = await this.find(caller, { kind, entry })
    if (found.affected.version !== version)
      throw new Fault(
        'revision_mismatch',
        'version: the finding has changed since; read it again before you accept it',
      )
    const now = this.#clock.now()
    await this.#store.acceptedFindings.accept({ ...caller, kind, entry, version, reason, now })
    const [accepted] = await this.#withAcceptances(caller, [found])
    return accepted as IsolationFinding
  }

  /** Ends the acceptance of a finding. @throws Fault `not_found`, `unavailable` */
  async reopen(caller: Caller, { kind, entry }: FindingKey): Promise<void> {
    const now = this.#clock.now()
    if (!(await this.#store.acceptedFindings.reopen({ ...caller, kind, entry, now })))
      throw new Fault('not_found', 'Nobody has accepted such a finding in this environment')
  }

  async #isRegistryUsed(tenantScope: TenantScope): Promise<boolean> {
    return (await this.#store.dataSources.listSchemas(tenantScope)).length > 0
  }

  async #withAcceptances(
    { workspaceId, environment }: TenantScope,
    found: readonly Found[],
  ): Promise<IsolationFinding[]> {
    if (found.length === 0) return []
    const keys = found.map(({ kind, entry }) => ({ kind, entry }))
    const acceptances = await this.#store.acceptedFindings.find({ workspaceId, environment, keys })
    return found.map((one, i) => {
      const acceptance = acceptances[i] ?? null
      const status = acceptance?.version === one.affected.version ? 'accepted' : 'open'
      return { ...one, status, acceptance }
    })
  }

  async #findOne(tenantScope: TenantScope, { kind, entry }: FindingKey): Promise<Found | null> {
    const [resolved] = await this.#store.dataSources.resolveEntries(tenantScope, [entry])
    if (kind === 'shared' && resolved?.schema && resolved.dataSource) {
      const schemaProvidedId = resolved.schema.providedId
      const found = await this.#findShared(tenantScope, { ...resolved.dataSource, schemaProvidedId })
      // The provided ids name the finding.
      return found?.entry.every((key, i) => key === entry[i]) === true ? found : null
    }
    const isRegistryUsed = await this.#isRegistryUsed(tenantScope)
    const found = await this.#findOfEntry(tenantScope, entry, resolved, isRegistryUsed)
    return found?.kind === kind ? found : null
  }

  async #findShared(tenantScope: TenantScope, dataSource: RegisteredDataSource): Promise<Found | null> {
    const entry = [dataSource.schemaProvidedId, dataSource.providedId] as const
    const affected = await this.#affectedBy(tenantScope, entry)
    return affected.total.count < 2 ? null : { kind: 'shared', entry, dataSource, affected }
  }

  async #findOfEntry(
    tenantScope: TenantScope,
    entry: MappingEntry,
    resolved: ResolvedEntry | undefined,
    isRegistryUsed: boolean,
  ): Promise<Found | null> {
    return (
      (await this.#findMappedTwice(tenantScope, entry, resolved)) ??
      (resolved?.dataSource ? null : this.#findUnresolved(tenantScope, entry, isRegistryUsed))
    )
  }

  /**
   * Selects the entries that are candidates for a finding: unresolved, naming their schema by its id, and, if no schema is
   * registered, possibly shared.
   */
  async #candidates(
    tenantScope: TenantScope,
    counts: EntryCounts['counts'],
    isRegistryUsed: boolean,
  ): Promise<{ readonly entry: MappingEntry; readonly resolved: ResolvedEntry | undefined }[]> {
    const entries = counts.map(({ entry }) => entry)
    const all = await this.#store.dataSources.resolveEntries(tenantScope, entries)
    return counts.flatMap(({ entry, count }, i) => {
      const resolved = all[i]
      if (resolved?.dataSource && !isNamedById(resolved)) return []
      // The count of the last entry may be incomplete.
      const isShared = count >= 2 || i === counts.length - 1
      return isRegistryUsed || isShared ? [{ entry, resolved }] : []
    })
  }

  /** Finds user groups that map a schema by its id with this entry, and by its provided id with another one. */
  async #findMappedTwice(
    { workspaceId, environment }: TenantScope,
    entry: MappingEntry,
    resolved: ResolvedEntry | undefined,
  ): Promise<Found | null> {
    if (!resolved?.schema || !isNamedById(resolved)) return null
    const filter: UserGroupFilter = { mappedTo: [entry], schemaKey: resolved.schema.providedId }
    const affected = await collectAffected(async (page) => {
      const query = { workspaceId, environment, filter, ...page }
      const { userGroups: items, position } = await this.#store.userGroupSearch.search(query)
      return { items, position }
    })
    const { dataSource } = resolved
    return affected.total.count === 0 ? null : { kind: 'mapped_twice', entry, dataSource, affected }
  }

  async #findUnresolved(
    tenantScope: TenantScope,
    entry: MappingEntry,
    isRegistryUsed: boolean,
  ): Promise<Found | null> {
    const affected = await this.#affectedBy(tenantScope, entry)
    if (affected.total.count < (isRegistryUsed ? 1 : 2)) return null
    return { kind: isRegistryUsed ? 'unresolved' : 'shared', entry, dataSource: null, affected }
  }

  #affectedBy(tenantScope: TenantScope, entry: MappingEntry): Promise<AffectedUserGroups> {
    return collectAffected((page) => this.#management.search(tenantScope, { mappedTo: entry }, page))
  }
}

/** Reads pages until enough user groups are known. */
async function collectAffected(
  read: (page: PageQuery) => Promise<Page<TokenlessUserGroup>>,
): Promise<AffectedUserGroups> {
  const userGroups: TokenlessUserGroup[] = []
  const pages = allPages((position) => read({ position, limit: maxAffected + 1 - userGroups.length }))
  for await (const items of pages) {
    userGroups.push(...items)
    if (userGroups.length > maxAffected) break
  }
  return affectedOf(userGroups)
}

function matcherOf({ kind, status, since = 0, until = Infinity }: FindingFilter) {
  return (finding: IsolationFinding) =>
    (kind === undefined || finding.kind === kind) &&
    (status === undefined || finding.status === status) &&
    finding.affected.changedAt >= since &&
    finding.affected.changedAt < until
}
