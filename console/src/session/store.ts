import { useSyncExternalStore } from 'react'
import type { EnvironmentTag } from '../api/wire.ts'
import { publicPath } from '../public-path.ts'

/** Management scopes, each of which includes the ones before it. */
export const roles = ['observe', 'support', 'admin'] as const

/** A sign-in link as `/console/session/link` describes it. */
export interface SignInLink {
  readonly workspace: { readonly id: number; readonly name: string }
  readonly api_environment_tag: EnvironmentTag
  /** Null for a person. */
  readonly api_token: { readonly id: number; readonly name: string } | null
  readonly person?: { readonly id: string; readonly name: string; readonly email: string | null }
  readonly role: (typeof roles)[number]
  readonly expires_at: string
}

/** The session as `/console/session` returns it. */
export interface Session extends SignInLink {
  readonly idle_seconds: number
  readonly csrf_token: string
}

/** Reason why there is no session. `elsewhere`: the browser is signed in only to other places. */
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
  | SignedOut

export interface SignedOut {
  readonly kind: 'signed_out'
  readonly ending?: Ending
  /** Sessions of other places. */
  readonly elsewhere?: readonly Session[]
}

// Scripts cannot see the cookies. Without this hint, there never was one, and no request is needed. Its value is the last place, in which a
// new tab starts. A tab stays in its own place, which `sessionStorage` has.
const hint = 'console-session'

let linkSecret: string | undefined
let state: SessionState = {
  kind: takeFragment() || localStorage.getItem(hint) !== null ? 'unknown' : 'signed_out',
}
let lastActivity = 0
let lastSession: Session | undefined
const listeners = new Set<() => void>()

// A link to the page that is open changes only the fragment, and the page does not load again.
addEventListener('hashchange', () => {
  if (takeFragment()) become({ kind: 'unknown' })
})

/** Reads a sign-in link or a link to a place, and removes its fragment from the address. */
function takeFragment(): boolean {
  const [, name, value] = /^#(sign-in|environment)=([\w.-]+)$/.exec(location.hash) ?? []
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

/** An environment of a workspace: `Customer.1`. */
export type Place = `${EnvironmentTag}.${number}`

export function placeOf(
  { workspace, api_environment_tag }: SignInLink,
  environment: EnvironmentTag = api_environment_tag,
): Place {
  return `${environment}.${workspace.id}`
}

/** Returns a link that switches this tab to another place, at a page of the console. */
export function linkToPlace(path: string, place: Place): string {
  return `${publicPath}/console${path}#environment=${place}`
}

export function otherEnvironment(environment: EnvironmentTag): EnvironmentTag {
  return environment === 'Customer' ? 'Testing' : 'Customer'
}

/** Returns the place of this tab. Null for a new tab. */
export function chosenPlace(): Place | null {
  return sessionStorage.getItem(hint) as Place | null
}

/** Returns the environment of this tab. Null for a new tab. */
export function chosenEnvironment(): EnvironmentTag | null {
  return (chosenPlace()?.split('.')[0] ?? null) as EnvironmentTag | null
}

/** Returns the name of the workspace of this tab. Undefined if no session of this page had it. */
export function chosenWorkspace(): string | undefined {
  const elsewhere = state.kind === 'signed_out' ? (state.elsewhere ?? []) : []
  const id = chosenPlace()?.split('.')[1]
  return [lastSession, ...elsewhere].find((one) => String(one?.workspace.id) === id)?.workspace.name
}

function become(next: SessionState): void {
  state = next
  if (next.kind === 'signed_in') {
    lastSession = next.session
    localStorage.setItem(hint, placeOf(next.session))
    sessionStorage.setItem(hint, placeOf(next.session))
  } else if (next.kind === 'signed_out' && next.ending !== 'expired' && next.ending !== 'elsewhere') {
    localStorage.removeItem(hint)
    sessionStorage.removeItem(hint)
  }
  for (const listener of listeners) listener()
}

/**
 * Uses the session of a place among those of the browser. Without a place, as in a new tab, uses the last one. Returns false if there is
 * none.
 */
export function chooseSession(sessions: readonly Session[], place: Place | null): boolean {
  const find = (wanted: string | null) => sessions.find((session) => placeOf(session) === wanted)
  const session = place === null ? (find(localStorage.getItem(hint)) ?? sessions[0]) : find(place)
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

export function isElsewhere(sessions: readonly Session[]): void {
  become({ kind: 'signed_out', ending: 'elsewhere', elsewhere: sessions })
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
