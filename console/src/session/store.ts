import { useSyncExternalStore } from 'react'
import type { EnvironmentTag } from '../api/wire.ts'

/** The session as `/console/session` returns it. */
export interface Session {
  readonly workspace: { readonly id: number; readonly name: string }
  readonly api_environment_tag: EnvironmentTag
  readonly api_token: { readonly id: number; readonly name: string }
  readonly idle_seconds: number
  readonly expires_at: string
  readonly csrf_token: string
}

/** Reason why the session ended. */
export type Ending = 'expired' | 'signed_out'

export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signed_in'; readonly session: Session }
  | { readonly kind: 'signed_out'; readonly ending?: Ending }

// Scripts cannot see the cookie. Without this hint, there never was one, and no request is needed.
const hint = 'console-session'

let state: SessionState = { kind: localStorage.getItem(hint) === null ? 'signed_out' : 'unknown' }
let lastActivity = 0
const listeners = new Set<() => void>()

function become(next: SessionState): void {
  state = next
  if (next.kind === 'signed_in') localStorage.setItem(hint, 'yes')
  else localStorage.removeItem(hint)
  for (const listener of listeners) listener()
}

export function beginSession(session: Session): void {
  noteActivity()
  become({ kind: 'signed_in', session })
}

/** Does nothing without a session. */
export function endSession(ending: Ending): void {
  if (state.kind === 'signed_in') become({ kind: 'signed_out', ending })
}

export function noSession(): void {
  become({ kind: 'signed_out' })
}

export function currentSession(): Session | undefined {
  return state.kind === 'signed_in' ? state.session : undefined
}

/** Undefined while somebody is signed in. */
export function lastEnding(): Ending | undefined {
  return state.kind === 'signed_out' ? state.ending : undefined
}

/** The service counts the idle time from the last request. */
export function noteActivity(): void {
  lastActivity = Date.now()
}

/** End of the session unless there is another request, in milliseconds since the Unix epoch. */
export function endOf({ idle_seconds, expires_at }: Session): number {
  return Math.min(lastActivity + idle_seconds * 1000, Date.parse(expires_at))
}

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useSessionState(): SessionState {
  return useSyncExternalStore(onSessionChange, () => state)
}

/** The current session. Only for pages that require one. */
export function useSession(): Session {
  const current = useSessionState()
  if (current.kind !== 'signed_in') throw new Error('not signed in')
  return current.session
}
