import type { Agent } from 'node:http'
import { systemClock, type Clock } from './clock.ts'

/** The longest that a timer waits. */
const longestTimeoutMs = 2_147_483_647

export interface ConnectionOptions {
  /**
   * Where the service is: `https://user-groups.example.com`, without `/api/user`. Where a gateway has it under a path, with
   * that path.
   */
  readonly origin: string
  /** An API token; it decides about the workspace and the environment. It belongs on servers, never into a page. */
  readonly apiToken: string
  /** How long a call may take, in milliseconds, all tries and pauses included. Default: 15000. */
  readonly deadlineMs?: number | undefined
  /** How often a call is tried at most. Default: 8; 1 for no repeat. */
  readonly maxTries?: number | undefined
  /** Makes the connections, with a certificate or through a proxy for example. Default: one that keeps them alive. */
  readonly agent?: Agent | undefined
  readonly clock?: Clock | undefined
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. It may have taken effect. */
  readonly signal?: AbortSignal | undefined
  /** In place of the client's, for this call. */
  readonly deadlineMs?: number | undefined
}

export interface ConnectionSettings {
  readonly origin: URL
  readonly apiToken: string
  readonly deadlineMs: number
  readonly maxTries: number
  readonly agent: Agent | undefined
  readonly clock: Clock
}

/** @throws TypeError, RangeError */
export function settingsOf(options: ConnectionOptions): ConnectionSettings {
  const { origin, apiToken, deadlineMs = 15_000, maxTries = 8, agent, clock = systemClock } = options
  // From an environment variable, each may well be missing or a text.
  if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken)) {
    throw new TypeError('apiToken must be the API token alone: visible ASCII characters, no white space')
  }
  if (!Number.isSafeInteger(maxTries) || maxTries < 1) {
    throw new RangeError('maxTries must be a whole number, 1 or more')
  }
  return {
    origin: readOrigin(origin),
    apiToken,
    deadlineMs: readDeadline(deadlineMs),
    maxTries,
    agent,
    clock,
  }
}

/** @throws RangeError */
export function readDeadline(deadlineMs: number): number {
  if (typeof deadlineMs === 'number' && deadlineMs >= 1 && deadlineMs <= longestTimeoutMs) return deadlineMs
  throw new RangeError('deadlineMs must be a number, 1 or more')
}

function readOrigin(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isRight =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}` === ''
  if (!isRight) throw new TypeError('origin must be an http or https URL, without user, password and query')
  return url
}
