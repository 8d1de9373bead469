import { isUsable, type ApiToken } from '../api-token/api-token.ts'
import type { Clock } from '../util/clock.ts'
import {
  mappingEntries,
  schemaOfKey,
  type MappingEntry,
  type ResolvedEntry,
} from '../data-source/data-source.ts'
import { Fault } from '../fault.ts'
import { jsonDiff, type JsonDifference } from '../json/json-diff.ts'
import type { JsonText } from '../json/json-text.ts'
import { isTokenActive } from './decisions.ts'
import { locationOf } from './location.ts'
import type { GracePeriod } from './user-group-history-store.ts'
import type { UserGroupFilter, UserGroupSearch, UserGroupSort } from './user-group-search-store.ts'
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
import { countParts, fillPage, type Page, type PageQuery, type Total } from '../util/page.ts'
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
  /** Running ones of superseded tokens. */
  readonly gracePeriods: readonly GracePeriod[]
  readonly versions: readonly UserGroupVersion[]
}

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

/** The page of a search to return. */
export interface SearchPage extends PageQuery {
  readonly sort?: UserGroupSort | undefined
}

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
    search: UserGroupSearch,
    { sort, ...page }: SearchPage,
  ): Promise<Page<TokenlessUserGroup>> {
    const { workspaceId, environment } = tenantScope
    const filter = await this.#filterOf(tenantScope, search)
    return fillPage(this.#clock, page, async (part) => {
      const query = { workspaceId, environment, filter, sort, ...part }
      const { userGroups: items, position } = await this.#store.userGroupSearch.search(query)
      return { items, position }
    })
  }

  /** Counts the user groups that a search finds, for about `searchBudgetMs`. @throws Fault `unavailable` */
  async count(tenantScope: TenantScope, search: UserGroupSearch): Promise<Total> {
    const { workspaceId, environment } = tenantScope
    const filter = await this.#filterOf(tenantScope, search)
    return countParts(this.#clock, (position) =>
      this.#store.userGroupSearch.count({ workspaceId, environment, filter, position }),
    )
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
    return (await this.changeSuspension(caller, expected, suspended)).userGroup
  }

  /** Does the same as `setSuspended`, and returns whether it changed the user group. */
  async changeSuspension(
    caller: Caller,
    expected: ExpectedUserGroup,
    suspended: boolean,
  ): Promise<{ readonly isChanged: boolean; readonly userGroup: TokenlessUserGroup }> {
    const result = await this.#store.userGroups.suspend({
      key: await this.#keyOf(caller, expected.teamId),
      ...actorOf(caller),
      expected,
      suspended,
      now: this.#clock.now(),
    })
    if (result.outcome === 'not_found') throw userGroupNotFound()
    if (result.outcome === 'revision_mismatch') throw revisionMismatch()
    return { isChanged: result.outcome === 'updated', userGroup: result.userGroup }
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
    const { workspaceId } = tenantScope
    const location = locationOf(userGroup)
    const [entries, [lastIntrospectedAt = null], gracePeriods, versions] = await Promise.all([
      this.#resolve(tenantScope, userGroup.mapping),
      this.#store.introspections.findLast(workspaceId, [location]),
      this.#store.userGroupHistory.listGracePeriods({ workspaceId, ...location, now: this.#clock.now() }),
      this.#versionsOf(userGroup, versionsShown),
    ])
    return { userGroup, entries, lastIntrospectedAt, gracePeriods, versions }
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
    const query = { workspaceId, ...locationOf(userGroup), beforeRevision, limit }
    return this.#store.userGroupHistory.listVersions(query)
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
    const resolved = await this.#store.dataSources.resolveEntries(tenantScope, entries)
    return resolved.map((entry, i) => ({ ...entry, dataSourceKey: entries[i]?.[1] ?? '' }))
  }

  async #filterOf(
    tenantScope: TenantScope,
    { mappedTo, ...filter }: UserGroupSearch,
  ): Promise<UserGroupFilter> {
    return mappedTo ? { ...filter, mappedTo: await this.#spellingsOf(tenantScope, mappedTo) } : filter
  }

  /** Returns all entries that name the same data source, or the entry itself if it names none. */
  async #spellingsOf(tenantScope: TenantScope, entry: MappingEntry): Promise<readonly MappingEntry[]> {
    const { dataSources } = this.#store
    const [named] = await dataSources.resolveEntries(tenantScope, [entry])
    const dataSource = named?.dataSource
    if (!dataSource) return [entry]
    const schema = schemaOfKey(await dataSources.listSchemas(tenantScope), entry[0])
    // The schema was deleted after the lookup of its data source.
    if (schema === undefined) return [entry]
    const spellings = [schema.providedId, String(schema.id)].flatMap((schemaKey) =>
      [dataSource.providedId, String(dataSource.id)].map((key) => [schemaKey, key] as const),
    )
    const resolved = await dataSources.resolveEntries(tenantScope, spellings)
    return spellings.filter((_, i) => resolved[i]?.dataSource?.id === dataSource.id)
  }
}

const versionsShown = 10

/** User groups per batch. The largest possible user group has about 600 KB. */
export const listBatchSize = 200
