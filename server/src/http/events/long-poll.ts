import type { IncomingMessage } from 'node:http'
import { eventJson } from '../../contract/event.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { EventRequest } from './event-request.ts'

const resetEvent = JSON.stringify({ type: 'reset' })

/** Returns the events after a position as JSON: as soon as there are any, or after `seconds`. Without a position, returns the current one at once. */
export function pollEvents(
  feed: EventFeed,
  { apiToken, after, isVisible }: EventRequest,
  request: IncomingMessage,
  seconds: number,
): Promise<string> {
  const { workspaceId, environment } = apiToken
  return new Promise((resolve, reject) => {
    let position = after
    const finish = (events: readonly string[], reached: EventPosition | null) => {
      clearTimeout(timer)
      subscription.end()
      resolve(`{"events":[${events.join()}],"position":${JSON.stringify(reached)}}`)
    }
    const timer = setTimeout(() => finish([], position), seconds * 1000)
    const subscription = feed.subscribe(
      {
        ...{ workspaceId, environment },
        send: (events) => {
          const visible = events.filter(isVisible)
          position = events.at(-1)?.position ?? position
          if (visible.length > 0) finish(visible.map(eventJson), position)
          return true
        },
        heartbeat: (reached) => {
          position = reached
          if (after === null) finish([], reached)
        },
        reset: (reached) => finish([resetEvent], reached),
        end: (fault) => {
          clearTimeout(timer)
          if (fault === undefined) finish([], position)
          else reject(fault)
        },
      },
      after,
    )
    request.once('close', () => {
      clearTimeout(timer)
      subscription.end()
    })
  })
}
