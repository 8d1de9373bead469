import type { Store } from '../store.ts'
import { Cache } from '../util/cache.ts'
import { RecentTimes } from '../util/recent-times.ts'
import { bitOf, monthOf } from './calendar.ts'
import { largeId, others, type Look } from './look.ts'
import { maxRowsExamined, type Mark, type MonthOfUserGroup, type NameColumn } from './usage-store.ts'

/** Maximum numbers of names of a user group in a month. Further ones are recorded as `others`. */
const maxNames = { viewerId: 100_000, resource: 1000 } as const satisfies Record<NameColumn, number>

const nameColumns = ['viewerId', 'resource'] as const satisfies readonly NameColumn[]

/** Maximum number of rooms for names that are kept. */
const maxRooms = 10_000
/** Part of the room that is taken before the names are counted again, because other processes take of it, too. */
const roomShare = 0.1
/** Number of user groups whose names are looked up at once. */
const maxConcurrentLookups = 16
/** Room of a user group that has the maximum number of names. */
const full = -1

/** A look on a day. */
export interface DatedLook {
  readonly look: Look
  /** Number of the day since the Unix epoch. */
  readonly day: number
  /** Rounded down to the minute, in milliseconds since the Unix epoch. */
  readonly seenAt: number
}

/** Writes marks to the store: each that this process has not written before. */
export class MarkRecorder {
  readonly #store: Pick<Store, 'usage'>
  readonly #limits: Readonly<Record<NameColumn, number>>
  /** The latest day that was written of each look. */
  readonly #written = new RecentTimes()
  /** The latest month in which each name was admitted. */
  readonly #admitted = new RecentTimes()
  /** Number of names that are admitted before they are counted again, by column, month and user group. */
  readonly #rooms = new Cache<number>(maxRooms)

  constructor(store: Pick<Store, 'usage'>, limits: Readonly<Record<NameColumn, number>> = maxNames) {
    this.#store = store
    this.#limits = limits
  }

  /** Marks the days of looks. They are durable when the promise resolves. @throws Fault `unavailable` */
  async record(looks: readonly DatedLook[]): Promise<void> {
    const unwritten = looks.filter(({ look, day }) => !this.#written.has(look.id, day))
    const marks = unwritten.map(markOf)
    const refused = await this.#refusedNames(marks)
    const merged = new Map<string, Mark>()
    for (const mark of marks) {
      const shown = (column: NameColumn) =>
        refused.has(nameKey(mark.teamId, column, mark[column])) ? others : mark[column]
      merge(merged, { ...mark, viewerId: shown('viewerId'), resource: shown('resource') })
    }
    if (merged.size > 0) await this.#store.usage.record([...merged.values()])
    for (const { look, day } of unwritten) this.#written.set(look.id, day)
  }

  /** Marks all looks again, because rows were deleted. */
  forget(): void {
    this.#written.clear()
    this.#admitted.clear()
  }

  /** Returns the keys of the names for which their user groups have no room. */
  async #refusedNames(marks: readonly Mark[]): Promise<Set<string>> {
    const unknown = new Map<string, NewNames>()
    for (const mark of marks) {
      for (const column of nameColumns) {
        const name = mark[column]
        if (name === '' || name === others) continue
        if (this.#admitted.has(largeId(nameKey(mark.teamId, column, name)), mark.month)) continue
        const key = `${column}/${mark.month}/${mark.teamId}`
        const group = unknown.get(key) ?? { place: mark, column, names: new Set() }
        unknown.set(key, group)
        group.names.add(name)
      }
    }
    const refused = new Set<string>()
    const groups = [...unknown]
    const rows = await this.#rowsOf(groups.filter(([key, { names }]) => !this.#hasRoom(key, names.size)))
    for (let i = 0; i < groups.length; i += maxConcurrentLookups)
      await Promise.all(
        groups.slice(i, i + maxConcurrentLookups).map(async ([key, group]) => {
          const without = await this.#refuse(key, group, rows.get(rowsKey(group.place)))
          for (const name of group.names) {
            const id = nameKey(group.place.teamId, group.column, name)
            if (without.has(name)) refused.add(id)
            else this.#admitted.set(largeId(id), group.place.month)
          }
        }),
      )
    return refused
  }

  #hasRoom(key: string, names: number): boolean {
    const room = this.#rooms.get(key) ?? 0
    return room !== full && names <= room
  }

  /** Counts the rows of the user groups, of which there are at least as many as names. Leaves out user groups that have many. */
  async #rowsOf(groups: readonly (readonly [string, NewNames])[]): Promise<Map<string, number>> {
    const months = new Map<string, MonthOfUserGroup[]>()
    for (const { place } of new Map(groups.map(([, group]) => [rowsKey(group.place), group])).values()) {
      const key = `${place.workspaceId}/${place.environment}/${place.month}`
      months.set(key, [...(months.get(key) ?? []), place])
    }
    const counts: Map<string, number>[] = []
    for (const places of months.values()) counts.push(await this.#countRows(places))
    return new Map(counts.flatMap((some) => [...some]))
  }

  /** Counts the rows of user groups in one month of an environment. */
  async #countRows(places: readonly MonthOfUserGroup[]): Promise<Map<string, number>> {
    const [first] = places
    if (first === undefined) return new Map()
    const { workspaceId, environment, month } = first
    const teamIds = places.map(({ teamId }) => teamId)
    const found = await this.#store.usage.countRows({
      workspaceId,
      environment,
      month,
      teamIds,
      rows: maxRowsExamined,
    })
    if (found !== null) return new Map(places.map((place) => [rowsKey(place), found.get(place.teamId) ?? 0]))
    if (places.length === 1) return new Map()
    const half = places.length >> 1
    const some = await this.#countRows(places.slice(0, half))
    return new Map([...some, ...(await this.#countRows(places.slice(half)))])
  }

  /** Takes room for names and returns those for which there is none. */
  async #refuse(
    key: string,
    { place, column, names }: NewNames,
    rows: number | undefined,
  ): Promise<ReadonlySet<string>> {
    const room = this.#rooms.get(key) ?? 0
    if (this.#hasRoom(key, names.size)) {
      this.#rooms.set(key, room - names.size)
      return new Set()
    }
    const least = this.#limits[column] - (rows ?? Infinity) - names.size
    if (least >= 0) {
      this.#rooms.set(key, Math.floor(least * roomShare))
      return new Set()
    }
    const { usage } = this.#store
    const found = new Set(await usage.findNames(place, column, [...names]))
    const added = [...names].filter((name) => !found.has(name))
    if (added.length === 0) return new Set()
    const left = room === full ? 0 : this.#limits[column] - (await this.#count(place, column))
    this.#rooms.set(key, left <= added.length ? full : Math.floor((left - added.length) * roomShare))
    return new Set(added.slice(Math.max(left, 0)))
  }

  async #count(place: MonthOfUserGroup, column: NameColumn): Promise<number> {
    let total = 0
    for (let after: string | null = ''; after !== null;) {
      const { count, last } = await this.#store.usage.countNames(place, column, {
        after,
        rows: maxRowsExamined,
      })
      total += count
      after = last
    }
    return total
  }
}

interface NewNames {
  readonly place: MonthOfUserGroup
  readonly column: NameColumn
  readonly names: Set<string>
}

function rowsKey({ teamId, month }: MonthOfUserGroup): string {
  return `${month}/${teamId}`
}

/** Identifies a name of a user group. */
function nameKey(teamId: number, column: NameColumn, name: string): string {
  return `${column}/${teamId}/${name}`
}

function markOf({ look, day, seenAt }: DatedLook): Mark {
  const { workspaceId, environment, bucket, teamId, viewerId, resource } = look
  const place = { workspaceId, environment, bucket, teamId, month: monthOf(day) }
  return { ...place, viewerId, resource, days: bitOf(day), lastSeenAt: seenAt }
}

/** Adds a mark to those of other rows, or to the one of the same row. */
function merge(marks: Map<string, Mark>, mark: Mark): void {
  const key = `${mark.month}/${mark.teamId}/${mark.viewerId}\0${mark.resource}`
  const { days = 0, lastSeenAt = 0 } = marks.get(key) ?? {}
  marks.set(key, { ...mark, days: days | mark.days, lastSeenAt: Math.max(lastSeenAt, mark.lastSeenAt) })
}
