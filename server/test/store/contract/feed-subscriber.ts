import { EventFeed } from '../../../src/domain/event/event-feed.ts'
import type { EventPosition } from '../../../src/domain/event/event.ts'
import type { Store } from '../../../src/domain/store.ts'
import { systemClock } from '../../../src/domain/util/clock.ts'
import { poll } from '../../failover/poll.ts'
import { lifo, type Scope } from '../../support/scope.ts'
import { created } from '../postgres/postgres-support.ts'

const boundMs = 20_000

/** A subscriber that keeps what it receives. */
export function subscribe(t: Scope, store: Store, after: EventPosition | null) {
  const feed = new EventFeed({ store, clock: systemClock })
  lifo(t).after(() => feed.close())
  const received: string[] = []
  const beats: { readonly position: EventPosition; readonly completeAt: number }[] = []
  const state = { takesMore: true }
  const subscription = feed.subscribe(
    {
      ...{ workspaceId: 1, environment: 'Customer' },
      send: (events) => {
        received.push(...events.map(({ userGroup }) => String(userGroup?.providedId)))
        return state.takesMore
      },
      heartbeat: (position, completeAt) => void beats.push({ position, completeAt }),
      reset: () => void received.push('reset'),
      end: () => void received.push('end'),
    },
    after,
  )
  const until = (isReached: () => boolean) => poll('the feed', boundMs, () => isReached() || undefined)
  return { feed, received, beats, state, subscription, until }
}

/** Creates user groups, and returns their provided ids. */
export const createMany = async (store: Store, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await created(store)).providedId)
  return ids
}
