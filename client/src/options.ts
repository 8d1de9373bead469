import { systemClock, type Clock } from './clock.ts'
import type { ErrorCode, TransportErrorCode } from './errors.ts'

/** Maximum delay of a Node.js timer. */
export const maxTimeoutMs = 2_147_483_647

/** The part of an `Agent` of node:http that distinguishes it. Declared here for platforms without types of Node.js. */
export interface Agent {
  readonly maxSockets: number
  destroy(): void
}

/** One HTTP request that ended. Never holds a token, a query or a body. */
export interface RequestEvent {
  /** Method of the operation, also if it was sent as a POST with the override header. */
  readonly method: string
  readonly path: string
  /** Number of the attempt, from 1. An attempt has a second request if the client switches to the override header. */
  readonly attempt: number
  readonly durationMs: number
  /** HTTP status. Undefined if there was no response. */
  readonly status: number | undefined
  /** Undefined if the operation succeeded. `aborted` if the caller's signal aborted it. */
  readonly errorCode: ErrorCode | TransportErrorCode | 'aborted' | undefined
  /** Identifies a failed request in the log of the service. */
  readonly requestId: string | undefined
}

/** One HTTP request that is about to be sent. Never holds a token, a query or a body. */
export interface OutgoingRequest extends Pick<RequestEvent, 'method' | 'path' | 'attempt'> {
  /** Empty. Headers that are added here are sent, for example `traceparent`. They replace none of the client. */
  readonly headers: Record<string, string>
}

export interface ConnectionOptions {
  /**
   * URL of the service without `/api/user`, for example `https://user-groups.example.com`. Include the path if a
   * gateway serves it under one.
   */
  readonly origin: string
  /** API token. It determines the workspace and the environment. Keep it on servers, never in a web page. */
  readonly apiToken: string
  /** Maximum duration of an operation in milliseconds, including retries and pauses. Default: 15000. */
  readonly deadlineMs?: number | undefined
  /** Maximum number of attempts. Default: 8. 1 disables retries. */
  readonly maxTries?: number | undefined
  /**
   * Creates the connections, for example with a client certificate or through a proxy. Default: a keep-alive agent. Only in
   * Node.js.
   */
  readonly agent?: Agent | undefined
  /** Called before each HTTP request, also of a retry. If it throws, the operation fails with that error. */
  readonly beforeRequest?: ((request: OutgoingRequest) => void) | undefined
  /** Called after each HTTP request, for logs and metrics. Exceptions from it are ignored. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
  readonly clock?: Clock | undefined
}

export interface RequestOptions {
  /** Aborts the operation, which then rejects with the signal's reason. It may have taken effect. */
  readonly signal?: AbortSignal | undefined
  /** Overrides the client's `deadlineMs` for this operation. */
  readonly deadlineMs?: number | undefined
}

/** Checked options. */
export interface ConnectionSettings extends Omit<ConnectionOptions, 'origin'> {
  readonly origin: URL
  readonly deadlineMs: number
  readonly maxTries: number
  readonly clock: Clock
}

/** @throws TypeError, RangeError */
export function settingsOf(options: ConnectionOptions): ConnectionSettings {
  const { apiToken, deadlineMs = 15_000, maxTries = 8, clock = systemClock } = options
  // Values from environment variables may be missing or strings.
  if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken)) {
    throw new TypeError('apiToken must be only the API token: visible ASCII characters without white space')
  }
  if (!Number.isSafeInteger(maxTries) || maxTries < 1) {
    throw new RangeError('maxTries must be a whole number, 1 or more')
  }
  const checked = { origin: parseOrigin(options.origin), deadlineMs: checkDeadline(deadlineMs) }
  return { ...options, ...checked, maxTries, clock }
}

/** @throws RangeError */
export function checkDeadline(deadlineMs: number): number {
  if (typeof deadlineMs === 'number' && deadlineMs >= 1 && deadlineMs <= maxTimeoutMs) return deadlineMs
  throw new RangeError('deadlineMs must be a number, 1 or more')
}

function parseOrigin(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isValid =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}` === ''
  if (!isValid) throw new TypeError('origin must be an http or https URL without user, password or query')
  return url
}
