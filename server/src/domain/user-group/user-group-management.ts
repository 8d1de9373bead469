import { isUsable, type ApiToken } from '../api-token/api-token.ts'
import type { Clock } from '../util/clock.ts'
import {
  mappingEntries,
  schemaOfKey,
  type DataSource,
  type MappingEntry,
  type ResolvedEntry,
} from '../data-source/data-source.ts'
import { Fault } from '../fault.ts'
import { jsonDiff, type JsonDifference } from '../json/json-diff.ts'
import type { JsonText } from '../json/json-text.ts'
import type { EntryCounts, UserGroupFilter } from './user-group-search-store.ts'
import type { ExpectedUserGroup } from './user-group-store.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { hashToken, isWellFormedToken } from '../token/token.ts'
import {
  contentValue,
  restorableMs,
  type DeletedUserGroup,
  type TokenlessUserGroup,
  type UserGroup,
  type UserGroupContent,
  type UserGroupVersion,
} from './user-group.ts'
import {
  actorOf,
  revisionMismatch,
  userGroupNotFound,
  type Caller,
  type UserGroupService,
} from './user-group-service.ts'

/** For how long a search goes on looking, in milliseconds, before it answers with what it has found and where to go on. */
export const searchBudgetMs = 100

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; null where there is none. */
  readonly position: string | null
}

/** What a user group's dashboards are shown by, and what became of it lately. */
export interface UserGroupView {
  readonly userGroup: TokenlessUserGroup
  readonly entries: readonly (ResolvedEntry & { readonly dataSourceKey: string })[]
  /** To the minute; null where there was none. */
  readonly lastIntrospectedAt: number | null
  readonly versions: readonly UserGroupVersion[]
}

/** User groups that share a data source, or are mapped to nothing. */
export interface IsolationFinding {
  readonly kind: 'shared' | 'unresolved'
  /** What they are mapped to; where it is registered, by provided ids. */
  readonly entry: MappingEntry
  readonly dataSource: ResolvedEntry['dataSource']
  /** The first of them. */
  readonly userGroups: readonly TokenlessUserGroup[]
}

export type UserGroupSearch = Omit<UserGroupFilter, 'mappedTo'> & { readonly mappedTo?: MappingEntry }

type IsolationPosition = { readonly dataSource: number } | { readonly entry: MappingEntry | null }

/** How many user groups a finding names. */
const firstOnes = { position: null, limit: 10 }

/** What is known of a token that was found somewhere. */
export type LeakedToken =
  | {
      readonly kind: 'user_group_token'
      /** For viewing, when it was asked. */
      readonly works: boolean
      readonly userGroup: TokenlessUserGroup
      readonly validUntil: number | null
      readonly rotated: boolean
    }
  | { readonly kind: 'api_token'; readonly works: boolean; readonly apiToken: ApiToken }
  | { readonly kind: 'unknown' }

/** What the people who look after user groups do with them. */
export class UserGroupManagement {
  readonly #store: Store
  readonly #userGroups: UserGroupService
  readonly #clock: Clock

  constructor(parts: { store: Store; userGroups: UserGroupService; clock: Clock }) {
    this.#store = parts.store
    this.#userGroups = parts.userGroups
    this.#clock = parts.clock
  }

  /**
   * Answers within about `searchBudgetMs`: it may have found fewer than `limit`, and none, and say where to go on.
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

  /** In the order of ids, some at a time. What is changed meanwhile is as it was or as it is. @throws Fault `unavailable` */
  async *listAll({ workspaceId, environment }: TenantScope): AsyncGenerator<TokenlessUserGroup[]> {
    let afterProvidedId: string | null = null
    do {
      const page: UserGroup[] = await this.#store.userGroups.list({
        workspaceId,
        environment,
        afterProvidedId,
        limit: listedAtOnce,
      })
      if (page.length > 0) yield page
      afterProvidedId = page.length === listedAtOnce ? (page.at(-1) as UserGroup).providedId : null
    } while (afterProvidedId !== null)
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

  /** In the order of team ids, `limit` of them at most. */
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

  /** @throws Fault `user_group_not_found`, `already_exists` (its id was taken meanwhile), `unavailable` */
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
          'Another user group has its user_group_id by now; delete that one first, if this one is to come back',
        )
      : new Fault('user_group_not_found', 'No user group with this id was deleted within the last 30 days')
  }

  /** The newest first. @throws Fault `user_group_not_found`, `unavailable` */
  async listVersions(tenantScope: TenantScope, teamId: number, limit: number): Promise<UserGroupVersion[]> {
    return this.#versionsOf(await this.find(tenantScope, teamId), limit)
  }

  /**
   * What is different at revision `to` from what was at `from`; the current one where `to` is null.
   * @throws Fault `user_group_not_found`, `not_found` (such a version), `unavailable`
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
   * Has name, mapping and properties be as they were.
   * @throws Fault `user_group_not_found`, `not_found` (such a version), `revision_mismatch`, `validation_failed` (a mapping
   * to what is no longer registered), `unavailable`
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
  async view(tenantScope: TenantScope, teamId: number): Promise<UserGroupView> {
    const userGroup = await this.find(tenantScope, teamId)
    const [entries, lastIntrospectedAt, versions] = await Promise.all([
      this.#resolve(tenantScope, userGroup.mapping),
      this.#store.introspections.findLast(tenantScope.workspaceId, teamId),
      this.#versionsOf(userGroup, versionsShown),
    ])
    return { userGroup, entries, lastIntrospectedAt, versions }
  }

  /**
   * User groups that see the same data source, each data source told once, by whatever names it is mapped to; and entries
   * that name no data source, where any schema is registered, or that several user groups have, where none is.
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
    /** Looks at some candidates at once, each for one finding at most; returns how many were looked at before it is over. */
    const look = async <T>(
      candidates: readonly T[],
      find: (candidate: T) => Promise<IsolationFinding | null>,
    ): Promise<number> => {
      let looked = 0
      while (looked < candidates.length && (looked === 0 || !isOver())) {
        const some = candidates.slice(looked, looked + Math.min(lookedAtOnce, limit - items.length))
        for (const finding of await Promise.all(some.map(find))) if (finding !== null) items.push(finding)
        looked += some.length
      }
      return looked
    }
    do {
      if ('dataSource' in position) {
        const afterId = position.dataSource
        const found = await this.#store.dataSources.listShared({ workspaceId, environment, afterId })
        const looked = await look(found.dataSources, (dataSource) =>
          this.#findShared(tenantScope, dataSource),
        )
        const last = found.dataSources[looked - 1]
        if (last !== undefined && looked < found.dataSources.length) position = { dataSource: last.id }
        else position = found.afterId === null ? { entry: null } : { dataSource: found.afterId }
      } else {
        const { entry: after } = position
        const { counts, isEnd } = await this.#store.userGroupSearch.countEntries({
          workspaceId,
          environment,
          after,
        })
        const unresolved = await this.#unresolved(tenantScope, counts, isRegistryUsed)
        const looked = await look(unresolved, (entry) =>
          this.#findUnresolved(tenantScope, entry, isRegistryUsed),
        )
        const last = looked < unresolved.length ? unresolved[looked - 1] : counts.at(-1)?.entry
        position = isEnd && looked === unresolved.length ? null : { entry: last ?? null }
      }
    } while (position !== null && !isOver())
    return { items, position: position && JSON.stringify(position) }
  }

  /**
   * Whose token this is, which somebody found where it should not be. With `rotate` it stops at once: it is replaced, or
   * its grace period ends, or the API token is revoked.
   * @throws Fault `unavailable`
   */
  async findLeaked(caller: Caller, token: string, rotate: boolean): Promise<LeakedToken> {
    const { workspaceId, environment } = caller
    const now = this.#clock.now()
    if (isWellFormedToken('api', token)) {
      const apiToken = await this.#store.apiTokens.find(hashToken(token))
      if (apiToken?.workspaceId !== workspaceId || apiToken.environment !== environment)
        return { kind: 'unknown' }
      const revoked = rotate
        ? await this.#store.apiTokens.revoke({ id: apiToken.id, ...actorOf(caller), now })
        : null
      return { kind: 'api_token', works: isUsable(apiToken, now), apiToken: revoked ?? apiToken }
    }
    if (!isWellFormedToken('userGroup', token)) return { kind: 'unknown' }
    const issued = await this.#store.userGroups.identifyToken(workspaceId, environment, hashToken(token))
    if (issued === null) return { kind: 'unknown' }
    const { userGroup, validUntil } = issued
    const works = userGroup.suspendedAt === null && (validUntil === null || now < validUntil)
    const told = { kind: 'user_group_token', works, userGroup, validUntil, rotated: false } as const
    if (!rotate) return told
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
      // It may have been replaced meanwhile, and the new token is not the one that leaked.
      if (!isReplaced) return this.findLeaked(caller, token, rotate)
    } else await this.#store.userGroups.endGracePeriod({ ...caller, tokenHash: hashToken(token), now })
    return { ...told, userGroup: await this.find(caller, teamId), rotated: isCurrent }
  }

  async #findShared(
    tenantScope: TenantScope,
    dataSource: DataSource & { readonly schemaProvidedId: string },
  ): Promise<IsolationFinding | null> {
    const entry = [dataSource.schemaProvidedId, dataSource.providedId] as const
    const { items: userGroups } = await this.search(tenantScope, { mappedTo: entry }, firstOnes)
    return userGroups.length < 2 ? null : { kind: 'shared', entry, dataSource, userGroups }
  }

  /** Of entries those that name nothing, and that several user groups may have where no schema is registered. */
  async #unresolved(
    tenantScope: TenantScope,
    counts: EntryCounts['counts'],
    isRegistryUsed: boolean,
  ): Promise<MappingEntry[]> {
    const entries = counts.map(({ entry }) => entry)
    const resolved = await this.#store.dataSources.resolveEntries(
      tenantScope.workspaceId,
      tenantScope.environment,
      entries,
    )
    return counts.flatMap(({ entry, count }, i) => {
      if (resolved[i]?.dataSource) return []
      // Of the last one there may be more than were counted.
      const isShared = count >= 2 || i === counts.length - 1
      return isRegistryUsed || isShared ? [entry] : []
    })
  }

  async #findUnresolved(
    tenantScope: TenantScope,
    entry: MappingEntry,
    isRegistryUsed: boolean,
  ): Promise<IsolationFinding | null> {
    const { items: userGroups } = await this.search(tenantScope, { mappedTo: entry }, firstOnes)
    if (userGroups.length < (isRegistryUsed ? 1 : 2)) return null
    return { kind: isRegistryUsed ? 'unresolved' : 'shared', entry, dataSource: null, userGroups }
  }

  async #keyOf(tenantScope: TenantScope, teamId: number) {
    const { workspaceId, environment, providedId } = await this.find(tenantScope, teamId)
    return { workspaceId, environment, providedId }
  }

  #versionsOf({ workspaceId, teamId }: TokenlessUserGroup, limit: number): Promise<UserGroupVersion[]> {
    return this.#store.userGroupHistory.listVersions({ workspaceId, teamId, beforeRevision: null, limit })
  }

  async #versionOf(current: TokenlessUserGroup, revision: number): Promise<UserGroupContent> {
    if (revision === current.revision) return current
    const { workspaceId, teamId } = current
    const [version] = await this.#store.userGroupHistory.listVersions({
      workspaceId,
      teamId,
      beforeRevision: revision + 1,
      limit: 1,
    })
    if (version?.revision !== revision)
      throw new Fault('not_found', 'There is no version with this revision, or no longer')
    return version
  }

  async #resolve(tenantScope: TenantScope, mapping: JsonText | null): Promise<UserGroupView['entries']> {
    const entries = mappingEntries(mapping)
    if (entries.length === 0) return []
    const resolved = await this.#store.dataSources.resolveEntries(
      tenantScope.workspaceId,
      tenantScope.environment,
      entries,
    )
    return resolved.map((entry, i) => ({ ...entry, dataSourceKey: entries[i]?.[1] ?? '' }))
  }

  /** All entries that name the same data source; the entry itself where it names none. */
  async #spellingsOf(tenantScope: TenantScope, entry: MappingEntry): Promise<readonly MappingEntry[]> {
    const { workspaceId, environment } = tenantScope
    const [named] = await this.#store.dataSources.resolveEntries(workspaceId, environment, [entry])
    const dataSource = named?.dataSource
    if (!dataSource) return [entry]
    const schema = schemaOfKey(await this.#store.dataSources.listSchemas(workspaceId, environment), entry[0])
    // It was removed, with all its data sources, since they were looked up.
    if (schema === undefined) return [entry]
    const spellings = [schema.providedId, String(schema.id)].flatMap((schemaKey) =>
      [dataSource.providedId, String(dataSource.id)].map((key) => [schemaKey, key] as const),
    )
    const resolved = await this.#store.dataSources.resolveEntries(workspaceId, environment, spellings)
    return spellings.filter((_, i) => resolved[i]?.dataSource?.id === dataSource.id)
  }
}

const versionsShown = 10

/** How many look-ups of an isolation report are under way at once. */
const lookedAtOnce = 10

/** With the largest properties and mapping a user group is some 600 KB. */
const listedAtOnce = 200

/** Whether a text is a position that `findIsolationFindings` returned. */
export function isIsolationPosition(text: string): boolean {
  try {
    const { dataSource, entry } = JSON.parse(text) as { dataSource?: unknown; entry?: unknown }
    const isEntry =
      Array.isArray(entry) &&
      entry.length === 2 &&
      entry.every((key) => typeof key === 'string' && !key.includes('\0'))
    return Number.isSafeInteger(dataSource) || (dataSource === undefined && (entry === null || isEntry))
  } catch {
    return false
  }
}
