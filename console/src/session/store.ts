import { useSyncExternalStore } from 'react'
import type { EnvironmentTag } from '../api/wire.ts'
import { publicPath } from '../public-path.ts'

/** A sign-in link as `/console/session/link` describes it. */
export interface SignInLink {
  readonly workspace: { readonly id: number; readonly name: string }
  readonly api_environment_tag: EnvironmentTag
  readonly api_token: { readonly id: number; readonly name: string }
  readonly expires_at: string
}

/** The session as `/console/session` returns it. */
export interface Session extends SignInLink {
  readonly idle_seconds: number
  readonly csrf_token: string
}

/** Reason why there is no session. `elsewhere`: the browser is signed in only to the other environment. */
export type Ending = 'expired' | 'signed_out' | 'unusable_link' | 'elsewhere'

/** A sign-in link that was opened while somebody is signed in. */
export interface UnconfirmedLink {
  readonly secret: string
  readonly link: SignInLink
  readonly sessions: readonly Session[]
}

export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unconfirmed'; readonly link: UnconfirmedLink }
  | { readonly kind: 'signed_in'; readonly session: Session }
  | { readonly kind: 'signed_out'; readonly ending?: Ending }

// Scripts cannot see the cookies. Without this hint, there never was one, and no request is needed. Its value is the last environment, in
// which a new tab starts. A tab stays in its own environment, which `sessionStorage` has.
const hint = 'console-session'

let linkSecret: string | undefined
takeFragment()
let state: SessionState = {
  kind: localStorage.getItem(hint) === null && linkSecret === undefined ? 'signed_out' : 'unknown',
}
let lastActivity = 0
const listeners = new Set<() => void>()

// A link to the page that is open changes only the fragment, and the page does not load again.
addEventListener('hashchange', () => {
  if (takeFragment()) become({ kind: 'unknown' })
})

/** Reads a sign-in link or a link to an environment, and removes its fragment from the address. */
function takeFragment(): boolean {
  const [, name, value] = /^#(sign-in|environment)=([\w-]+)$/.exec(location.hash) ?? []
  if (value === undefined) return false
  history.replaceState(history.state, '', location.pathname + location.search)
  if (name === 'sign-in') linkSecret = value
  else sessionStorage.setItem(hint, value)
  return true
}

/** Returns the secret of the sign-in link that opened this page, until `forgetLink`. */
export function linkToUse(): string | undefined {
  return linkSecret
}

export function forgetLink(): void {
  linkSecret = undefined
}

/** Returns a link that switches this tab to another environment, at a page of the console. */
export function linkToEnvironment(path: string, environment: EnvironmentTag): string {
  return `${publicPath}/console${path}#environment=${environment}`
}

export function otherEnvironment(environment: EnvironmentTag): EnvironmentTag {
  return environment === 'Customer' ? 'Testing' : 'Customer'
}

/** Returns the environment of this tab. Null for a new tab. */
export function chosenEnvironment(): EnvironmentTag | null {
  return sessionStorage.getItem(hint) as EnvironmentTag | null
}

function become(next: SessionState): void {
  state = next
  if (next.kind === 'signed_in') {
    localStorage.setItem(hint, next.session.api_environment_tag)
    sessionStorage.setItem(hint, next.session.api_environment_tag)
  } else if (next.kind === 'signed_out' && next.ending !== 'expired' && next.ending !== 'elsewhere') {
    localStorage.removeItem(hint)
    sessionStorage.removeItem(hint)
  }
  for (const listener of listeners) listener()
}

/**
 * Uses the session of an environment among those of the browser. Without an environment, as in a new tab, uses the last one.
 * Returns false if there is none.
 */
export function chooseSession(sessions: readonly Session[], environment: EnvironmentTag | null): boolean {
  const find = (wanted: string | null) =>
    sessions.find(({ api_environment_tag }) => api_environment_tag === wanted)
  const session = environment === null ? (find(localStorage.getItem(hint)) ?? sessions[0]) : find(environment)
  if (session === undefined) return false
  noteActivity()
  become({ kind: 'signed_in', session })
  return true
}

/** Does nothing without a session. */
export function endSession(ending: Ending): void {
  if (state.kind === 'signed_in') become({ kind: 'signed_out', ending })
}

export function noSession(ending?: Ending): void {
  become({ kind: 'signed_out', ...(ending !== undefined && { ending }) })
}

export function askForConfirmation(link: UnconfirmedLink): void {
  become({ kind: 'unconfirmed', link })
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
