import type { Clock } from './clock.ts'
import type { Introspection, Store } from './store.ts'
import type { TokenlessUserGroup } from './user-group.ts'

const minuteMs = 60_000
/** More user groups than these are not held: they are written before the minute is over. */
const mostHeld = 50_000
/** How many go to the store at a time: others wait for it no longer than for a creation or two. */
const batchSize = 200

/** When a renderer last asked about each user group, to the minute: noted in memory, and written when there is time. */
export class IntrospectionLog {
  readonly #store: Pick<Store, 'recordIntrospections'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #onLoss: (error: unknown) => void
  #noted = new Map<number, Introspection>()

  /** `onLoss` is told why what was noted could not be written. */
  constructor(parts: {
    store: Pick<Store, 'recordIntrospections'>
    clock: Pick<Clock, 'now'>
    onLoss: (error: unknown) => void
  }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#onLoss = parts.onLoss
  }

  note({ workspaceId, teamId }: Pick<TokenlessUserGroup, 'workspaceId' | 'teamId'>): void {
    const now = this.#clock.now()
    const introspectedAt = now - (now % minuteMs)
    if (this.#noted.get(teamId)?.introspectedAt !== introspectedAt)
      this.#noted.set(teamId, { workspaceId, teamId, introspectedAt })
    if (this.#noted.size >= mostHeld) void this.write()
  }

  /** Writes what was noted. What cannot be written is lost, until the next introspection tells it anew. */
  async write(): Promise<void> {
    const noted = [...this.#noted.values()]
    this.#noted = new Map()
    try {
      for (let i = 0; i < noted.length; i += batchSize)
        await this.#store.recordIntrospections(noted.slice(i, i + batchSize))
    } catch (error) {
      this.#onLoss(error)
    }
  }
}
