import type { FastifyReply } from 'fastify'
import { eventJson } from '../../contract/event.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { PositionedEvent } from '../../domain/event/event-store.ts'
import type { Clock } from '../../domain/util/clock.ts'
import type { RequestContext } from '../request-context.ts'
import { isRevocation, type EventRequest } from './event-request.ts'

export interface StreamOptions {
  readonly headers: ReturnType<FastifyReply['getHeaders']>
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Sends Server-Sent Events until the client leaves, the API token is revoked, or the service stops. */
export function streamEvents(
  feed: EventFeed,
  { apiToken, after, isVisible, faultOfToken }: EventRequest,
  context: RequestContext,
  { headers, clock }: StreamOptions,
): void {
  const { raw, response } = context
  const startedAt = clock.monotonic()
  context.respondedAt = performance.now()
  // Proxies such as nginx would collect the stream in a buffer.
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value)
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
  const write = (text: string) => text === '' || response.writableEnded || response.write(text)
  const checkToken = (afterRevocation: boolean) =>
    void faultOfToken(afterRevocation).then((fault) => fault && end())
  // Clients reconnect after a second.
  write('retry: 1000\n\n')
  const { workspaceId, environment } = apiToken
  const subscription = feed.subscribe(
    {
      workspaceId,
      environment,
      send: (events) => {
        if (events.some(isRevocation)) checkToken(true)
        return write(events.filter(isVisible).map(textOf).join(''))
      },
      heartbeat: (position, completeAt) => {
        checkToken(false)
        // A client that does not read gets no more, so that it costs no memory and its connection counts as idle.
        if (raw.socket.writableNeedDrain) return
        const elapsed = Math.floor(completeAt - startedAt)
        // A comment, which other readers of event streams ignore.
        const complete = elapsed >= 0 ? `: complete ${elapsed}\n` : ''
        write(complete + messageOf(position, 'heartbeat', '{}'))
      },
      reset: (position) => write(messageOf(position, 'reset', '{}')),
      end: () => end(),
    },
    after,
  )
  const end = () => {
    subscription.end()
    response.end()
  }
  response.on('drain', subscription.resume)
  response.once('close', subscription.end)
}

/** The texts of recent events. All connections get the same event objects. */
const texts = new WeakMap<PositionedEvent, string>()

function textOf(event: PositionedEvent): string {
  let text = texts.get(event)
  if (text === undefined) {
    text = messageOf(event.position, event.type, eventJson(event))
    texts.set(event, text)
  }
  return text
}

function messageOf(position: EventPosition, type: string, data: string): string {
  return `id: ${position}\nevent: ${type}\ndata: ${data}\n\n`
}
