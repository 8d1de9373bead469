import type { Caller } from '../caller.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { locationOf, type UserGroupLocation } from '../user-group/location.ts'
import type { Clock } from '../util/clock.ts'
import { countBits, dayOf, dayText, daysOf, monthOf, type Month } from './calendar.ts'
import type { MarkRecorder } from './mark-recorder.ts'
import {
  maxRowsExamined,
  type NamedUserGroup,
  type ResourceUsage,
  type UsageSlice,
  type UserGroupUsage,
} from './usage-store.ts'

/** Number of user groups in a batch of an export. */
const exportedBatch = 200

interface Selection {
  readonly month: Month
  /** Undefined for all user groups. */
  readonly teamIds?: readonly number[] | undefined
}

interface ShownUserGroup {
  readonly teamId: number
  /** Null if the user group was deleted for good. */
  readonly providedId: string | null
  readonly name: string | null
}

interface ShownSeen {
  readonly activeDays: number
  /** In milliseconds since the Unix epoch. */
  readonly lastSeenAt: number
}

export type ShownUserGroupUsage = ShownUserGroup &
  ShownSeen &
  Pick<UserGroupUsage, 'viewers' | 'viewerDays'> & { readonly truncated?: true }
export type ShownViewerUsage = ShownUserGroup & ShownSeen & { readonly viewerId: string }
export type ShownResourceUsage = ShownSeen &
  Pick<ResourceUsage, 'resource' | 'userGroups' | 'viewers' | 'viewerDays'>

/** Numbers of user groups and known viewers. */
interface Counts {
  readonly userGroups: number
  readonly viewers: number
}

/** The usage of each day of a month, and of the month. */
export interface DaysOfMonth {
  readonly days: readonly (Counts & { readonly day: string })[]
  readonly total: Counts
}

interface Parts {
  readonly store: Pick<Store, 'usage' | 'introspections'>
  readonly marks: Pick<MarkRecorder, 'forget'>
  readonly clock: Pick<Clock, 'now'>
  /** Number of rows in a slice. Default: `maxRowsExamined`. */
  readonly maxRowsExamined?: number
}

/** Usage by month, and the erasure of viewers. */
export class UsageReports {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get currentMonth(): Month {
    return monthOf(dayOf(this.#parts.clock.now()))
  }

  /** Lists the user groups that were seen, by team id. @throws Fault `unavailable` */
  async listUserGroups(
    scope: TenantScope,
    selection: Selection,
    { afterTeamId, limit }: { readonly afterTeamId: number; readonly limit: number },
  ): Promise<ShownUserGroupUsage[]> {
    const { store } = this.#parts
    const teamIds =
      selection.teamIds ?? (await this.#seenTeamIds(scope, selection.month, { afterTeamId, limit }))
    const all = new Map<number, UserGroupUsage>()
    for await (const slice of this.#slices(scope, { ...selection, teamIds }))
      for (const row of await store.usage.sumUserGroups(slice))
        merge(all, row.teamId, row, (one, other) => ({
          ...withOthers(one, other),
          isTruncated: one.isTruncated || other.isTruncated,
        }))
    const rows = [...all.values()]
      .filter(({ teamId }) => teamId > afterTeamId)
      .sort((a, b) => a.teamId - b.teamId)
      .slice(0, limit)
    const userGroups = await this.#userGroupsOf(scope, rows)
    const locations = rows.flatMap(({ teamId }) => userGroups.get(teamId)?.location ?? [])
    const times = await store.introspections.findLast(scope.workspaceId, locations)
    const introspectedAt = new Map(locations.map(({ teamId }, i) => [teamId, times[i] ?? 0]))
    return rows.map((row) => {
      const latest = introspectedAt.get(row.teamId) ?? 0
      // Marks are written once a day, introspections once a minute.
      const isOfMonth = monthOf(dayOf(latest)) === selection.month
      return {
        ...shownUserGroup(row.teamId, userGroups),
        viewers: row.viewers,
        viewerDays: row.viewerDays,
        activeDays: countBits(row.days),
        lastSeenAt: isOfMonth ? Math.max(latest, row.lastSeenAt) : row.lastSeenAt,
        ...(row.isTruncated && { truncated: true }),
      }
    })
  }

  /** Lists all user groups that were seen, in batches. @throws Fault `unavailable` */
  async *listAll(scope: TenantScope, month: Month): AsyncGenerator<ShownUserGroupUsage[]> {
    for (let afterTeamId = 0; ;) {
      const batch = await this.listUserGroups(scope, { month }, { afterTeamId, limit: exportedBatch })
      yield batch
      const last = batch.at(-1)
      if (last === undefined || batch.length < exportedBatch) return
      afterTeamId = last.teamId
    }
  }

  /** Lists the known viewers that were seen, by team id and viewer id. @throws Fault `unavailable` */
  async listViewers(
    scope: TenantScope,
    selection: Selection,
    page: { readonly afterTeamId: number; readonly afterViewerId: string; readonly limit: number },
  ): Promise<ShownViewerUsage[]> {
    const rows = await this.#parts.store.usage.listViewers({ ...scope, ...selection, ...page })
    const userGroups = await this.#userGroupsOf(scope, rows)
    return rows.map(({ teamId, viewerId, days, lastSeenAt }) => ({
      ...shownUserGroup(teamId, userGroups),
      viewerId,
      activeDays: countBits(days),
      lastSeenAt,
    }))
  }

  /** Returns all resources that were seen, by name. @throws Fault `unavailable` */
  async resources(scope: TenantScope, selection: Selection): Promise<ShownResourceUsage[]> {
    const all = await this.#sum(scope, selection, {
      read: async (slice) =>
        (await this.#parts.store.usage.sumResources(slice)).map((row) => [row.resource, row] as const),
      add: (one: ResourceUsage, other) => ({
        ...withOthers(one, other),
        userGroups: one.userGroups + other.userGroups,
      }),
    })
    return [...all.values()]
      .sort((a, b) => (a.resource < b.resource ? -1 : 1))
      .map(({ days, ...row }) => ({ ...row, activeDays: countBits(days) }))
  }

  /** Returns the usage of each day of a month until today, and of the month. @throws Fault `unavailable` */
  async days(scope: TenantScope, selection: Selection): Promise<DaysOfMonth> {
    const { store, clock } = this.#parts
    const { first, length } = daysOf(selection.month)
    const all = await this.#sum(scope, selection, {
      read: async (slice) => {
        const { userGroups, viewers, userGroupsByDay, viewersByDay } = await store.usage.sumDays(slice)
        const byDay = userGroupsByDay.map((count, i) => counts(first + i, count, viewersByDay[i]))
        return [counts('total', userGroups, viewers), ...byDay]
      },
      add: (one: Counts, other) => ({
        userGroups: one.userGroups + other.userGroups,
        viewers: one.viewers + other.viewers,
      }),
    })
    const none: Counts = { userGroups: 0, viewers: 0 }
    const days = Array.from({ length }, (_, i) => ({
      day: dayText(first + i),
      ...(all.get(first + i) ?? none),
    }))
    const today = dayOf(clock.now())
    return {
      days: days.filter(({ userGroups }, i) => first + i <= today || userGroups > 0),
      total: all.get('total') ?? none,
    }
  }

  /**
   * Deletes what was recorded of a viewer, in one user group or in all, and returns the number of rows. A look that a process or a renderer
   * has not reported yet is recorded afterwards.
   * @throws Fault `unavailable`
   */
  async erase(caller: Caller, viewerId: string, teamId: number | null): Promise<number> {
    const { store, marks, clock } = this.#parts
    const deleted = await store.usage.eraseViewer({ ...caller, viewerId, teamId, now: clock.now() })
    if (deleted > 0) marks.forget()
    return deleted
  }

  /** Returns user groups that were seen, by team id: as many as `limit` if there are. */
  async #seenTeamIds(
    { workspaceId, environment }: TenantScope,
    month: Month,
    { afterTeamId, limit }: { readonly afterTeamId: number; readonly limit: number },
  ): Promise<number[]> {
    const teamIds: number[] = []
    for (let last: number | undefined = afterTeamId; last !== undefined && teamIds.length < limit;) {
      const found: readonly number[] = await this.#parts.store.usage.listTeamIds({
        workspaceId,
        environment,
        month,
        afterTeamId: last,
        rows: maxRowsExamined,
        limit: limit - teamIds.length,
      })
      teamIds.push(...found)
      last = found.at(-1)
    }
    return teamIds
  }

  /** Adds up the rows of all slices by their keys. A user group counts once, also if it has several slices. */
  async #sum<Key, Row extends Pick<Counts, 'userGroups'>>(
    scope: TenantScope,
    selection: Selection,
    {
      read,
      add,
    }: {
      readonly read: (slice: UsageSlice) => Promise<readonly (readonly [Key, Row])[]>
      readonly add: (one: Row, other: Row) => Row
    },
  ): Promise<Map<Key, Row>> {
    const all = new Map<Key, Row>()
    let latest = new Map<Key, Row>()
    const addLatest = () => {
      for (const [key, row] of latest) merge(all, key, row, add)
      latest = new Map()
    }
    const once = (one: Row, other: Row): Row => ({
      ...add(one, other),
      userGroups: Math.max(one.userGroups, other.userGroups),
    })
    for await (const slice of this.#slices(scope, selection)) {
      const isSameUserGroup = slice.afterViewerId !== undefined
      if (!isSameUserGroup) addLatest()
      for (const [key, row] of await read(slice)) merge(latest, key, row, once)
    }
    addLatest()
    return all
  }

  /** Yields slices of about `maxRowsExamined` rows that together have all rows of a selection. Slices of one user group follow each other. */
  async *#slices(
    { workspaceId, environment }: TenantScope,
    { month, teamIds }: Selection,
  ): AsyncGenerator<UsageSlice> {
    const inMonth = { workspaceId, environment, month }
    if (teamIds !== undefined) {
      yield* this.#slicesOf(inMonth, [...new Set(teamIds)])
      return
    }
    for (let afterTeamId = 0; ;) {
      const end = await this.#endOf({ ...inMonth, afterTeamId })
      if (end === null) {
        yield { ...inMonth, afterTeamId }
        return
      }
      yield { ...inMonth, afterTeamId, lastTeamId: end.teamId - 1 }
      yield* this.#slicesOf(inMonth, [end.teamId])
      afterTeamId = end.teamId
    }
  }

  async *#slicesOf(
    inMonth: Pick<UsageSlice, 'workspaceId' | 'environment' | 'month'>,
    teamIds: readonly number[],
  ): AsyncGenerator<UsageSlice> {
    const slice: UsageSlice = { ...inMonth, teamIds }
    let end = await this.#endOf(slice)
    if (end === null) {
      yield slice
    } else if (teamIds.length > 1) {
      const half = teamIds.length >> 1
      yield* this.#slicesOf(inMonth, teamIds.slice(0, half))
      yield* this.#slicesOf(inMonth, teamIds.slice(half))
    } else {
      let afterViewerId: string | undefined
      for (; end !== null; end = await this.#endOf({ ...slice, afterViewerId })) {
        yield { ...slice, afterViewerId, lastViewerId: end.viewerId }
        afterViewerId = end.viewerId
      }
      yield { ...slice, afterViewerId }
    }
  }

  #endOf(slice: UsageSlice) {
    return this.#parts.store.usage.findSliceEnd({
      ...slice,
      rows: this.#parts.maxRowsExamined ?? maxRowsExamined,
    })
  }

  async #userGroupsOf(
    { workspaceId, environment }: TenantScope,
    rows: readonly { readonly teamId: number }[],
  ): Promise<UserGroups> {
    if (rows.length === 0) return new Map()
    const scope = { workspaceId, environment }
    const teamIds = [...new Set(rows.map(({ teamId }) => teamId))]
    const found = await this.#parts.store.usage.findUserGroups(scope, teamIds)
    return new Map(
      found.map((userGroup) => [
        userGroup.teamId,
        { ...userGroup, location: locationOf({ ...scope, ...userGroup }) },
      ]),
    )
  }
}

type UserGroups = ReadonlyMap<number, NamedUserGroup & { readonly location: UserGroupLocation }>

function shownUserGroup(teamId: number, userGroups: UserGroups): ShownUserGroup {
  const { providedId = null, name = null } = userGroups.get(teamId) ?? {}
  return { teamId, providedId, name }
}

function counts(day: number | 'total', userGroups: number, viewers = 0) {
  return [day, { userGroups, viewers }] as const
}

/** Sets the row of a key, or adds to it. */
function merge<Key, Row>(rows: Map<Key, Row>, key: Key, row: Row, add: (one: Row, other: Row) => Row): void {
  const before = rows.get(key)
  rows.set(key, before === undefined ? row : add(before, row))
}

/** Adds the usage of other viewers. */
function withOthers<Row extends UserGroupUsage | ResourceUsage>(one: Row, other: Row): Row {
  return {
    ...one,
    viewers: one.viewers + other.viewers,
    viewerDays: one.viewerDays + other.viewerDays,
    days: one.days | other.days,
    lastSeenAt: Math.max(one.lastSeenAt, other.lastSeenAt),
  }
}
