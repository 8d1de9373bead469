import { isUsable, type ApiToken } from '../api-token/api-token.ts'
import type { Clock } from '../util/clock.ts'
import {
  isNamedById,
  mappingEntries,
  schemaOfKey,
  type DataSource,
  type MappingEntry,
  type ResolvedEntry,
} from '../data-source/data-source.ts'
import { Fault } from '../fault.ts'
import { jsonDiff, type JsonDifference } from '../json/json-diff.ts'
import type { JsonText } from '../json/json-text.ts'
import { isTokenActive } from './decisions.ts'
import { locationOf } from './location.ts'
import type { EntryCounts, UserGroupFilter } from './user-group-search-store.ts'
import type { ExpectedUserGroup } from './user-group-store.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { hashToken, isWellFormedApiToken } from '../token/token.ts'
import {
  contentValue,
  restorableMs,
  type DeletedUserGroup,
  type TokenlessUserGroup,
  type UserGroup,
  type UserGroupContent,
  type UserGroupVersion,
} from './user-group.ts'
import { searchBudgetMs, type Page } from '../util/page.ts'
import { actorOf, type Caller } from '../caller.ts'
import { revisionMismatch, userGroupNotFound, type UserGroupService } from './user-group-service.ts'

type Ports = Pick<
  Store,
  'apiTokens' | 'dataSources' | 'introspections' | 'userGroupHistory' | 'userGroupSearch' | 'userGroups'
>

/** A user group with its resolved mapping, last introspection and latest versions. */
export interface UserGroupDetails {
  readonly userGroup: TokenlessUserGroup
  readonly entries: readonly (ResolvedEntry & { readonly dataSourceKey: string })[]
  /** Rounded down to the minute; null if there was none. */
  readonly lastIntrospectedAt: number | null
  readonly versions: readonly UserGroupVersion[]
}

/** A mapping entry that several user groups share, that names no registered data source, or whose schema has another entry. */
export interface IsolationFinding {
  readonly kind: 'shared' | 'unresolved' | 'mapped_twice'
  /** The entry, with provided ids if it is registered. */
  readonly entry: MappingEntry
  readonly dataSource: ResolvedEntry['dataSource']
  /** The first user groups with this entry. */
  readonly userGroups: readonly TokenlessUserGroup[]
}

export type UserGroupSearch = Omit<UserGroupFilter, 'mappedTo'> & { readonly mappedTo?: MappingEntry }

type IsolationPosition = { readonly dataSource: number } | { readonly entry: MappingEntry | null }

/** The page of user groups that a finding lists. */
const firstUserGroups = { position: null, limit: 10 }

/** The result of looking up a leaked token. */
export type LeakedToken =
  | {
      readonly kind: 'user_group_token'
      /** True if the token was valid for viewing at the time of the request. */
      readonly works: boolean
      readonly userGroup: TokenlessUserGroup
      readonly validUntil: number | null
      readonly rotated: boolean
    }
  | { readonly kind: 'api_token'; readonly works: boolean; readonly apiToken: ApiToken }
  | { readonly kind: 'unknown' }

/** The operations of the management API on user groups. */
export class UserGroupManagement {
  readonly #store: Ports
  readonly #userGroups: UserGroupService
  readonly #clock: Clock
  readonly #revokedIds: Set<number>

  /** @param parts `revokedIds` gets the ids of revoked API tokens, for requests to the same process */
  constructor(parts: { store: Ports; userGroups: UserGroupService; clock: Clock; revokedIds?: Set<number> }) {
    this.#store = parts.store
    this.#userGroups = parts.userGroups
    this.#clock = parts.clock
    this.#revokedIds = parts.revokedIds ?? new Set()
  }

  /**
   * Searches user groups. Returns after about `searchBudgetMs`, so a page may have fewer than `limit` user groups, or none, even if
   * more follow.
   * @throws Fault `unavailable`
   */
  async search(
    tenantScope: TenantScope,
    { mappedTo, ...filter }: UserGroupSearch,
    { position: start, limit }: { position: string | null; limit: number },
  ): Promise<Page<TokenlessUserGroup>> {
    const { workspaceId, environment } = tenantScope
    const entries = mappedTo && { mappedTo: await this.#spellingsOf(tenantScope, mappedTo) }
    const end = this.#clock.monotonic() + searchBudgetMs
    const items: TokenlessUserGroup[] = []
    let position = start
    do {
      const found = await this.#store.userGroupSearch.search({
        workspaceId,
        environment,
        filter: { ...filter, ...entries },
        position,
        limit: limit - items.length,
      })
      items.push(...found.userGroups)
      position = found.position
    } while (position !== null && items.length < limit && this.#clock.monotonic() < end)
    return { items, position }
  }

  /** Lists all user groups by provided id, in batches. It is not a snapshot of one time. @throws Fault `unavailable` */
  async *listAll({ workspaceId, environment }: TenantScope): AsyncGenerator<TokenlessUserGroup[]> {
    let afterProvidedId: string | null = null
    do {
      const page: UserGroup[] = await this.#store.userGroups.list({
        workspaceId,
        environment,
        afterProvidedId,
        limit: listBatchSize,
      })
      if (page.length > 0) yield page
      afterProvidedId = page.length === listBatchSize ? (page.at(-1) as UserGroup).providedId : null
    } while (afterProvidedId !== null)
  }

  /** Lists user groups by their team ids, in one batch and without unknown ones. @throws Fault `unavailable` */
  async *listSome(
    { workspaceId, environment }: TenantScope,
    teamIds: readonly number[],
  ): AsyncGenerator<TokenlessUserGroup[]> {
    const found = await Promise.all(
      teamIds.map((teamId) => this.#store.userGroups.findById(workspaceId, environment, teamId)),
    )
    yield found.filter((userGroup) => userGroup !== null)
  }

  /** @throws Fault `user_group_not_found`, `unavailable` */
  async find({ workspaceId, environment }: TenantScope, teamId: number): Promise<TokenlessUserGroup> {
    const userGroup = await this.#store.userGroups.findById(workspaceId, environment, teamId)
    if (userGroup === null) throw userGroupNotFound('team_id')
    return userGroup
  }

  /** @throws Fault `user_group_not_found`, `revision_mismatch`, `unavailable` */
  async setSuspended(
    caller: Caller,
    expected: ExpectedUserGroup,
    suspended: boolean,
  ): Promise<TokenlessUserGroup> {
    const result = await this.#store.userGroups.suspend({
      key: await this.#keyOf(caller, expected.teamId),
      ...actorOf(caller),
      expected,
      suspended,
      now: this.#clock.now(),
    })
    if (result.outcome === 'not_found') throw userGroupNotFound()
    if (result.outcome === 'revision_mismatch') throw revisionMismatch()
    return result.userGroup
  }

  /** @throws Fault `user_group_not_found`, `revision_mismatch`, `unavailable` */
  async delete(caller: Caller, expected: ExpectedUserGroup): Promise<void> {
    const { providedId } = await this.#keyOf(caller, expected.teamId)
    await this.#userGroups.delete(caller, providedId, expected)
  }

  /** Lists the deleted user groups that can be restored, by team id. */
  listDeleted(
    { workspaceId, environment }: TenantScope,
    afterTeamId: number | null,
    limit: number,
  ): Promise<DeletedUserGroup[]> {
    const deletedAfter = this.#clock.now() - restorableMs
    return this.#store.userGroupHistory.listDeleted({
      workspaceId,
      environment,
      deletedAfter,
      afterTeamId,
      limit,
    })
  }

  /** @throws Fault `user_group_not_found`, `already_exists` (another user group has its id), `unavailable` */
  async restoreDeleted(caller: Caller, teamId: number): Promise<TokenlessUserGroup> {
    const now = this.#clock.now()
    const result = await this.#store.userGroups.restore({
      ...caller,
      teamId,
      deletedAfter: now - restorableMs,
      now,
    })
    if (result.outcome === 'restored') return result.userGroup
    throw result.outcome === 'id_taken'
      ? new Fault(
          'already_exists',
          'Another user group now has its user_group_id; delete that one first to restore this one',
        )
      : new Fault('user_group_not_found', 'No user group with this id was deleted within the last 30 days')
  }

  /** Lists versions, newest first. @throws Fault `user_group_not_found`, `unavailable` */
  async listVersions(tenantScope: TenantScope, teamId: number, limit: number): Promise<UserGroupVersion[]> {
    return this.#versionsOf(await this.find(tenantScope, teamId), limit)
  }

  /**
   * Compares the content at revision `from` with that at `to`, or with the current content if `to` is null.
   * @throws Fault `user_group_not_found`, `not_found` (no such version), `unavailable`
   */
  async diff(
    tenantScope: TenantScope,
    teamId: number,
    from: number,
    to: number | null,
  ): Promise<JsonDifference[]> {
    const current = await this.find(tenantScope, teamId)
    const before = await this.#versionOf(current, from)
    const after = to === null ? current : await this.#versionOf(current, to)
    return jsonDiff(contentValue(before), contentValue(after))
  }

  /**
   * Sets name, mapping and properties to an earlier version.
   * @throws Fault `user_group_not_found`, `not_found` (no such version), `revision_mismatch`, `validation_failed` (the mapping
   * names something that is no longer registered), `unavailable`
   */
  async restoreVersion(
    caller: Caller,
    expected: ExpectedUserGroup,
    revision: number,
  ): Promise<TokenlessUserGroup> {
    const current = await this.find(caller, expected.teamId)
    const { name, mapping, properties } = await this.#versionOf(current, revision)
    return this.#userGroups.update(caller, current.providedId, { name, mapping, properties }, expected)
  }

  /** @throws Fault `user_group_not_found`, `unavailable` */
  async view(tenantScope: TenantScope, teamId: number): Promise<UserGroupDetails> {
    const userGroup = await this.find(tenantScope, teamId)
    const [entries, [lastIntrospectedAt = null], versions] = await Promise.all([
      this.#resolve(tenantScope, userGroup.mapping),
      this.#store.introspections.findLast(tenantScope.workspaceId, [locationOf(userGroup)]),
      this.#versionsOf(userGroup, versionsShown),
    ])
    return { userGroup, entries, lastIntrospectedAt, versions }
  }

  /**
   * Finds data sources that several user groups are mapped to, by provided id or id. If any schema is registered, also finds
   * entries that name no registered data source, and schemas that a mapping names by both of their ids; otherwise, entries that
   * several user groups share.
   * @throws Fault `validation_failed` (the position), `unavailable`
   */
  async findIsolationFindings(
    tenantScope: TenantScope,
    { position: start, limit }: { position: string | null; limit: number },
  ): Promise<Page<IsolationFinding>> {
    const { workspaceId, environment } = tenantScope
    const end = this.#clock.monotonic() + searchBudgetMs
    const items: IsolationFinding[] = []
    let position: IsolationPosition | null =
      start === null ? { dataSource: 0 } : (JSON.parse(start) as IsolationPosition)
    const isRegistryUsed = (await this.#store.dataSources.listSchemas(workspaceId, environment)).length > 0
    const isOver = () => items.length >= limit || this.#clock.monotonic() >= end
    /** Checks candidates until the page is full or the time is over, and returns how many were checked. */
    const check = async <T>(
      candidates: readonly T[],
      find: (candidate: T) => Promise<IsolationFinding | null>,
    ): Promise<number> => {
      let checked = 0
      while (checked < candidates.length && (checked === 0 || !isOver())) {
        const batch = candidates.slice(
          checked,
          checked + Math.min(maxConcurrentLookups, limit - items.length),
        )
        for (const finding of await Promise.all(batch.map(find))) if (finding !== null) items.push(finding)
        checked += batch.length
      }
      return checked
    }
    do {
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
        const checked = await check(
          candidates,
          async ({ entry, resolved }) =>
            (await this.#findMappedTwice(tenantScope, entry, resolved)) ??
            (resolved?.dataSource ? null : this.#findUnresolved(tenantScope, entry, isRegistryUsed)),
        )
        const last = checked < candidates.length ? candidates[checked - 1]?.entry : counts.at(-1)?.entry
        position = isEnd && checked === candidates.length ? null : { entry: last ?? null }
      }
    } while (position !== null && !isOver())
    return { items, position: position && JSON.stringify(position) }
  }

  /**
   * Identifies a leaked token. With `rotate`, invalidates it immediately: replaces a user group token, ends the grace period of a
   * superseded one, or revokes an API token.
   * @throws Fault `unavailable`
   */
  async findLeaked(caller: Caller, token: string, rotate: boolean): Promise<LeakedToken> {
    const { workspaceId, environment } = caller
    const now = this.#clock.now()
    if (isWellFormedApiToken(token)) {
      const apiToken = await this.#store.apiTokens.find(hashToken(token))
      if (apiToken?.workspaceId !== workspaceId || apiToken.environment !== environment)
        return { kind: 'unknown' }
      const revoked = rotate
        ? await this.#store.apiTokens.revoke({ id: apiToken.id, ...actorOf(caller), now })
        : null
      if (revoked !== null) this.#revokedIds.add(apiToken.id)
      return { kind: 'api_token', works: isUsable(apiToken, now), apiToken: revoked ?? apiToken }
    }
    const reference = this.#userGroups.referenceOf(token)
    if (reference === null) return { kind: 'unknown' }
    const issued = await this.#store.userGroups.identifyToken(workspaceId, environment, reference)
    if (issued === null) return { kind: 'unknown' }
    const { userGroup, validUntil } = issued
    const works = isTokenActive(issued, now)
    const result = { kind: 'user_group_token', works, userGroup, validUntil, rotated: false } as const
    if (!rotate) return result
    const { providedId, teamId, revision } = userGroup
    const isCurrent = validUntil === null
    if (isCurrent) {
      const target = { providedId, expected: { teamId, revision } }
      const isReplaced = await this.#userGroups.rotate(caller, { target, gracePeriodSeconds: 0 }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Fault && error.code === 'revision_mismatch') return false
          throw error
        },
      )
      // Another request replaced the token in the meantime. The new token did not leak, so look up the leaked one again.
      if (!isReplaced) return this.findLeaked(caller, token, rotate)
    } else await this.#store.userGroups.endGracePeriod({ ...caller, token: reference, now })
    return { ...result, userGroup: await this.find(caller, teamId), rotated: isCurrent }
  }

  async #findShared(
    tenantScope: TenantScope,
    dataSource: DataSource & { readonly schemaProvidedId: string },
  ): Promise<IsolationFinding | null> {
    const entry = [dataSource.schemaProvidedId, dataSource.providedId] as const
    const { items: userGroups } = await this.search(tenantScope, { mappedTo: entry }, firstUserGroups)
    return userGroups.length < 2 ? null : { kind: 'shared', entry, dataSource, userGroups }
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
    const all = await this.#store.dataSources.resolveEntries(
      tenantScope.workspaceId,
      tenantScope.environment,
      entries,
    )
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
  ): Promise<IsolationFinding | null> {
    if (!resolved?.schema || !isNamedById(resolved)) return null
    const filter = { mappedTo: [entry], schemaKey: resolved.schema.providedId }
    const query = { workspaceId, environment, filter, limit: firstUserGroups.limit }
    let found = await this.#store.userGroupSearch.search({ ...query, position: null })
    // Most user groups have no such mapping, so the search must not end before one was found.
    while (found.position !== null && found.userGroups.length === 0)
      found = await this.#store.userGroupSearch.search({ ...query, position: found.position })
    const { userGroups } = found
    const { dataSource } = resolved
    return userGroups.length === 0 ? null : { kind: 'mapped_twice', entry, dataSource, userGroups }
  }

  async #findUnresolved(
    tenantScope: TenantScope,
    entry: MappingEntry,
    isRegistryUsed: boolean,
  ): Promise<IsolationFinding | null> {
    const { items: userGroups } = await this.search(tenantScope, { mappedTo: entry }, firstUserGroups)
    if (userGroups.length < (isRegistryUsed ? 1 : 2)) return null
    return { kind: isRegistryUsed ? 'unresolved' : 'shared', entry, dataSource: null, userGroups }
  }

  async #keyOf(tenantScope: TenantScope, teamId: number) {
    const { workspaceId, environment, providedId } = await this.find(tenantScope, teamId)
    return { workspaceId, environment, providedId }
  }

  #versionsOf(
    userGroup: TokenlessUserGroup,
    limit: number,
    beforeRevision: number | null = null,
  ): Promise<UserGroupVersion[]> {
    const { workspaceId } = userGroup
    return this.#store.userGroupHistory.listVersions({
      workspaceId,
      ...locationOf(userGroup),
      beforeRevision,
      limit,
    })
  }

  async #versionOf(current: TokenlessUserGroup, revision: number): Promise<UserGroupContent> {
    if (revision === current.revision) return current
    const [version] = await this.#versionsOf(current, 1, revision + 1)
    if (version?.revision !== revision)
      throw new Fault('not_found', 'No version with this revision exists, or it was deleted')
    return version
  }

  async #resolve(tenantScope: TenantScope, mapping: JsonText | null): Promise<UserGroupDetails['entries']> {
    const entries = mappingEntries(mapping)
    if (entries.length === 0) return []
    const resolved = await this.#store.dataSources.resolveEntries(
      tenantScope.workspaceId,
      tenantScope.environment,
      entries,
    )
    return resolved.map((entry, i) => ({ ...entry, dataSourceKey: entries[i]?.[1] ?? '' }))
  }

  /** Returns all entries that name the same data source, or the entry itself if it names none. */
  async #spellingsOf(tenantScope: TenantScope, entry: MappingEntry): Promise<readonly MappingEntry[]> {
    const { workspaceId, environment } = tenantScope
    const [named] = await this.#store.dataSources.resolveEntries(workspaceId, environment, [entry])
    const dataSource = named?.dataSource
    if (!dataSource) return [entry]
    const schema = schemaOfKey(await this.#store.dataSources.listSchemas(workspaceId, environment), entry[0])
    // The schema was deleted after the lookup of its data source.
    if (schema === undefined) return [entry]
    const spellings = [schema.providedId, String(schema.id)].flatMap((schemaKey) =>
      [dataSource.providedId, String(dataSource.id)].map((key) => [schemaKey, key] as const),
    )
    const resolved = await this.#store.dataSources.resolveEntries(workspaceId, environment, spellings)
    return spellings.filter((_, i) => resolved[i]?.dataSource?.id === dataSource.id)
  }
}

const versionsShown = 10

/** Concurrent lookups of an isolation check. */
const maxConcurrentLookups = 10

/** User groups per batch. The largest possible user group has about 600 KB. */
const listBatchSize = 200
