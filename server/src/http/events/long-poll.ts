import type { IncomingMessage } from 'node:http'
import { eventJson } from '../../contract/event.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import { Fault } from '../../domain/fault.ts'
import { isRevocation, type EventRequest } from './event-request.ts'

const resetEvent = JSON.stringify({ type: 'reset' })

/**
 * Returns the events after a position as JSON: as soon as there are any, or after `seconds`. Without a position, returns the current
 * one at once.
 * @throws Fault `unavailable` if there is no position to continue from, `unauthenticated` once the API token is revoked or has expired
 */
export function pollEvents(
  feed: EventFeed,
  { apiToken, after, isVisible, faultOfToken }: EventRequest,
  request: IncomingMessage,
  seconds: number,
): Promise<string> {
  const { workspaceId, environment } = apiToken
  return new Promise((resolve, reject) => {
    let position = after
    const events: string[] = []
    let hasRevocation = false
    const stop = () => {
      clearTimeout(timer)
      subscription.end()
    }
    const finish = () => {
      stop()
      if (position === null) reject(new Fault('unavailable', 'The events cannot be read. Retry in a moment'))
      else resolve(`{"events":[${events.join()}],"position":${JSON.stringify(position)}}`)
    }
    const end = (fault?: Fault) => {
      stop()
      if (fault === undefined) finish()
      else reject(fault)
    }
    // Events and a reset may come together.
    const finishSoon = () => void faultOfToken(hasRevocation).then((fault) => end(fault ?? undefined))
    const timer = setTimeout(finishSoon, seconds * 1000)
    const subscription = feed.subscribe(
      {
        workspaceId,
        environment,
        send: (sent) => {
          hasRevocation ||= sent.some(isRevocation)
          const visible = sent.filter(isVisible).map(eventJson)
          position = sent.at(-1)?.position ?? position
          events.push(...visible)
          if (visible.length > 0) finishSoon()
          return true
        },
        heartbeat: (reached) => {
          position = reached
          if (after === null) finishSoon()
          else void faultOfToken(false).then((fault) => fault && end(fault))
        },
        reset: (reached) => {
          position = reached
          events.push(resetEvent)
          finishSoon()
        },
        end,
      },
      after,
    )
    request.once('close', stop)
  })
}
