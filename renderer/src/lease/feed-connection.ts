import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Clock } from '../clock.ts'
import { earliest, instantOf, later, type Instant } from './instant.ts'

/** Reason why a connection to the event feed ended. */
export type DisconnectionReason =
  /** The service ended the stream. It does so when it stops. */
  | 'ended'
  /** No connection, or it broke. */
  | 'unreachable'
  /** No heartbeat in time. */
  | 'timed_out'
  /** Status 401 */
  | 'unauthenticated'
  /** Status 403: the API token lacks the scope `introspect`. */
  | 'forbidden'
  /** Status 404 or 501: the service has no event feed. */
  | 'no_feed'
  /** Status 400: the position of the client is malformed for this service. */
  | 'invalid_position'
  /** Heartbeats arrived too late: the network or a long transaction delays events, or a clock was set. */
  | 'late'
  /** Status 429, 502, 503 or 504 */
  | 'unavailable'
  /** The response violates the protocol, most likely because it is not from the service. */
  | 'bad_response'

export interface ConnectionEnd {
  readonly reason: DisconnectionReason
  readonly status?: number | undefined
  readonly retryAfter?: string | undefined
}

export interface FeedConnectionOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Maximum time without a byte, in milliseconds. */
  readonly silenceMs: number
  /** Called for each message, and for a heartbeat with the time up to which every change has been received. */
  readonly onMessage: (message: EventSourceMessage, completeAt: Instant | undefined) => void
  /** Called once, unless the connection is closed by the returned function. */
  readonly onEnd: (end: ConnectionEnd) => void
}

/** Maximum length of an event. The service sends at most a few kilobytes. */
const maxEventLength = 1024 * 1024

/** Opens a connection that does not keep the process running. Returns a function that closes it. */
export function connectFeed({ url, headers, clock, silenceMs, onMessage, onEnd }: FeedConnectionOptions) {
  const requestedAt = instantOf(clock)
  let isOver = false
  // `fetch` has no way to let the process exit while its connection is open.
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { agent: false, headers })
  const timer = setTimeout(() => end({ reason: 'timed_out' }), silenceMs).unref()

  function close(): void {
    isOver = true
    clearTimeout(timer)
    request.destroy()
  }

  function end(ending: ConnectionEnd): void {
    if (isOver) return
    close()
    onEnd(ending)
  }

  request.on('socket', (socket) => socket.unref())
  request.on('error', () => end({ reason: 'unreachable' }))
  request.on('response', (response) => {
    response.on('error', () => end({ reason: 'unreachable' }))
    response.on('close', () => end({ reason: 'ended' }))
    if (response.statusCode !== 200) return end(refusal(response))
    if (!/^text\/event-stream *(;|$)/i.test(response.headers['content-type'] ?? '')) {
      return end({ reason: 'bad_response', status: 200 })
    }
    read(response)
  })
  request.end()

  function read(response: IncomingMessage): void {
    let elapsed: number | undefined
    let receivedAt = requestedAt
    const decoder = new TextDecoder()
    const parser = createParser({
      maxBufferSize: maxEventLength,
      onComment: (comment) => {
        const [, text] = /^complete (\d{1,15})$/.exec(comment) ?? []
        elapsed = text === undefined ? undefined : Number(text)
      },
      onEvent: (message) => {
        // The service counts from the start of the stream, which was after the request. The time of receipt proves nothing: the
        // heartbeat may have waited in the network or in this process.
        const completeAt =
          elapsed === undefined ? undefined : earliest(later(requestedAt, elapsed), receivedAt)
        elapsed = undefined
        if (!isOver) onMessage(message, completeAt)
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') end({ reason: 'bad_response', status: 200 })
      },
    })
    response.on('data', (chunk: Buffer) => {
      if (isOver) return
      timer.refresh()
      receivedAt = instantOf(clock)
      parser.feed(decoder.decode(chunk, { stream: true }))
    })
  }

  return close
}

function refusal({ statusCode: status = 0, headers }: IncomingMessage): ConnectionEnd {
  return { reason: reasons[status] ?? 'bad_response', status, retryAfter: headers['retry-after'] }
}

const reasons: Readonly<Record<number, DisconnectionReason>> = {
  400: 'invalid_position',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'no_feed',
  429: 'unavailable',
  501: 'no_feed',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}
