// For the page that shows a dashboard. Imports nothing, so that it stays small.

/** Response of the host's endpoint: the `session` of `/api/user/create-session`, or the result of a client's `createSession`. */
export type HostSession = { readonly token: string } & (
  { readonly expires_in_seconds: number } | { readonly expiresInSeconds: number }
)

export interface KeepSessionOptions {
  /**
   * Requests a session from the host's backend, which knows who is signed in. Rejects with an object with `status` if the host
   * refuses, such as a `Response`. The signal is aborted after 30 seconds, and by `stop`.
   */
  readonly fetchSession: (signal: AbortSignal) => Promise<HostSession>
  /** Called with each new token, from which on the previous one is of no use. Keep it in memory only. */
  readonly onToken: (token: string) => void
  /** Called once if the host answers 401 or 403: nobody is signed in. No further request follows. */
  readonly onEnded?: () => void
  /** Called after each other failure. Another attempt follows. */
  readonly onError?: (error: unknown) => void
}

export interface KeptSession {
  /** Ends the renewal. No callback is called afterwards. */
  readonly stop: () => void
}

/** The part of the DOM that is used. Undefined in a worker. */
declare const document:
  | {
      readonly visibilityState: string
      addEventListener(type: 'visibilitychange', listener: () => void): void
      removeEventListener(type: 'visibilitychange', listener: () => void): void
    }
  | undefined

const initialDelayMs = 1000
const maxDelayMs = 30_000
const maxFetchMs = 30_000
/** Longer timers fire at once. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Requests a session now, and another one at 70 to 80 % of each lifetime, so that a page can stay open. Also when the page becomes
 * visible, if a renewal is overdue: browsers suspend timers of hidden pages. There is one request at a time. After a failure it
 * waits from 1 to 30 seconds.
 */
export function keepSession({ fetchSession, onToken, onEnded, onError }: KeepSessionOptions): KeptSession {
  const page = typeof document === 'undefined' ? undefined : document
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let dueAt = 0
  let request: AbortController | undefined
  let isStopped = false

  function stop(): void {
    isStopped = true
    clearTimeout(timer)
    page?.removeEventListener('visibilitychange', renewIfDue)
    request?.abort()
  }

  function renewIfDue(): void {
    // By the time of day, which also passes while the machine sleeps.
    if (page?.visibilityState === 'visible' && !request && Date.now() >= dueAt) void renew()
  }

  function renewIn(ms: number): void {
    dueAt = Date.now() + ms
    timer = setTimeout(() => void renew(), Math.min(ms, maxTimerMs))
  }

  async function renew(): Promise<void> {
    clearTimeout(timer)
    const startedAt = Date.now()
    const own = (request = new AbortController())
    const result = await attempt(fetchSession, own)
    request = undefined
    if (isStopped) return
    if ('token' in result) {
      failures = 0
      const elapsed = Math.max(0, Date.now() - startedAt)
      renewIn(Math.max(initialDelayMs, result.lifetimeMs * (0.7 + Math.random() / 10) - elapsed))
      onToken(result.token)
    } else if (result.status === 401 || result.status === 403) {
      stop()
      onEnded?.()
    } else {
      renewIn(Math.min(maxDelayMs, initialDelayMs * 2 ** failures++ * (1 + Math.random())))
      onError?.(result.error)
    }
  }

  page?.addEventListener('visibilitychange', renewIfDue)
  void renew()
  return { stop }
}

type Result =
  | { readonly token: string; readonly lifetimeMs: number }
  | { readonly error: unknown; readonly status: unknown }

/** A request without a response must not prevent others, so that it fails after some time. */
async function attempt(
  fetchSession: KeepSessionOptions['fetchSession'],
  request: AbortController,
): Promise<Result> {
  const { signal } = request
  const timer = setTimeout(() => request.abort(), maxFetchMs)
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('fetchSession took too long'))),
  )
  try {
    const session = await Promise.race([fetchSession(signal), aborted])
    const { token } = session
    const seconds = 'expiresInSeconds' in session ? session.expiresInSeconds : session.expires_in_seconds
    if (typeof token !== 'string' || !(seconds > 0))
      throw new TypeError('fetchSession must return a session with token and expires_in_seconds')
    return { token, lifetimeMs: seconds * 1000 }
  } catch (error) {
    return { error, status: (error as { status?: unknown } | undefined)?.status }
  } finally {
    clearTimeout(timer)
  }
}
