import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { locationOf } from '../user-group/location.ts'
import type { Clock } from '../util/clock.ts'
import { FairQueue } from '../util/fair-queue.ts'
import { dayOf, monthsBetween, parseDay, startOf, type Month } from './calendar.ts'
import { lookOf, type UsageMode } from './look.ts'
import type { DatedLook, MarkRecorder } from './mark-recorder.ts'

const minuteMs = 60_000
/** Days for which marks are accepted late, and ahead of the service's clock. */
const maxDaysLate = 2
const maxDaysAhead = 1

/** Returns the months of the marks that were accepted between two times. */
export function monthsOfMarks(start: number, end: number): Month[] {
  return monthsBetween(start - startOf(maxDaysLate), end + startOf(maxDaysAhead))
}

/** Maximum number of posts that are written at once, of which one workspace has at most half. */
const maxPosts = 8
/** Time after which a post that waits fails, in milliseconds. */
const maxWaitMs = 5000

/** A look that a renderer reports because it needed no request. */
export interface PostedMark {
  readonly teamId: number
  /** Empty if the viewer is unknown. */
  readonly viewerId: string
  /** Empty if the resource is unknown. */
  readonly resource: string
  /** As `2026-11-28`, in UTC. */
  readonly day: string
}

interface Parts {
  readonly store: Pick<Store, 'usage' | 'introspections'>
  readonly marks: MarkRecorder
  readonly mode: UsageMode
  readonly clock: Pick<Clock, 'now'>
}

/** Takes the marks of renderers that introspect from a cache. */
export class PostedMarks {
  readonly #parts: Parts
  readonly #turns = new FairQueue(maxPosts, maxWaitMs)

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Records marks and moves the last introspections forward. Ignores a mark of another day than the last ones or the next one, or of an
   * unknown user group. With the mode `off`, only the last introspections are recorded.
   * @throws Fault `unavailable`
   */
  take(scope: TenantScope, posted: readonly PostedMark[]): Promise<{ accepted: number; ignored: number }> {
    return this.#turns.run(scope.workspaceId, async () => {
      const { store, marks, mode } = this.#parts
      const looks = await this.#looksOf(scope, posted)
      const seen = looks.map(({ look, seenAt }) => ({ ...look, introspectedAt: seenAt }))
      if (mode !== 'off') await marks.record(looks)
      if (seen.length > 0) await store.introspections.record(seen)
      const accepted = mode === 'off' ? 0 : looks.length
      return { accepted, ignored: posted.length - accepted }
    })
  }

  async #looksOf(scope: TenantScope, posted: readonly PostedMark[]): Promise<DatedLook[]> {
    const { store, mode, clock } = this.#parts
    const now = clock.now()
    const today = dayOf(now)
    const timely = posted.flatMap(({ day: text, ...mark }) => {
      const day = parseDay(text)
      return day !== null && day >= today - maxDaysLate && day <= today + maxDaysAhead ? { ...mark, day } : []
    })
    if (timely.length === 0) return []
    const teamIds = [...new Set(timely.map(({ teamId }) => teamId))]
    const found = await store.usage.findUserGroups(scope, teamIds)
    const locations = new Map(
      found.map((userGroup) => [userGroup.teamId, locationOf({ ...scope, ...userGroup })]),
    )
    return timely.flatMap(({ day, teamId, ...seen }) => {
      const location = locations.get(teamId)
      if (location === undefined) return []
      // A mark of yesterday is most likely one of its last minute.
      const seenAt = Math.min(now, startOf(day + 1) - minuteMs)
      return { look: lookOf(mode, scope, location, seen), day, seenAt: seenAt - (seenAt % minuteMs) }
    })
  }
}
