import { csrfHeaders, sendRequest } from '../api/request.ts'
import { ApiError } from '../api/errors.ts'
import { publicPath } from '../public-path.ts'
import {
  askForConfirmation,
  chooseSession,
  chosenPlace,
  currentSession,
  endSession,
  forgetLink,
  isElsewhere,
  linkToUse,
  noSession,
  placeOf,
  type Ending,
  type Session,
  type UnconfirmedLink,
} from './store.ts'

const path = `${publicPath}/console/session`

type LinkResult = { readonly session: Session } | Omit<UnconfirmedLink, 'secret'>

/** Uses the sign-in link that opened this page, or else checks for a session. */
export async function resumeSession(): Promise<void> {
  const secret = linkToUse()
  const isUsed = secret !== undefined && (await useLink(secret))
  forgetLink()
  if (!isUsed) resumeOneOf(await readSessions(), secret === undefined ? undefined : 'unusable_link')
}

/** Uses a sign-in link, which replaces the session of its environment. */
export async function confirmLink({ secret }: UnconfirmedLink): Promise<void> {
  chooseNew(await postSession(`${path}/link`, { secret, confirmed: true }))
}

/** Leaves a sign-in link unused. */
export function declineLink({ sessions }: UnconfirmedLink): void {
  resumeOneOf(sessions)
}

function resumeOneOf(sessions: readonly Session[], ending?: Ending): void {
  if (chooseSession(sessions, chosenPlace())) return
  if (sessions.length > 0) isElsewhere(sessions)
  else noSession(ending)
}

export async function signIn(apiToken: string): Promise<void> {
  chooseNew(await postSession(path, { api_token: apiToken }))
}

/** Signs in, or asks for a confirmation if somebody is signed in. Returns false if the link was used before or has expired. */
async function useLink(secret: string): Promise<boolean> {
  try {
    const result = await postSession<LinkResult>(`${path}/link`, { secret })
    if ('session' in result) chooseNew(result)
    else askForConfirmation({ secret, ...result })
    return true
  } catch (error) {
    if (isUnauthenticated(error)) return false
    throw error
  }
}

async function postSession<T = { readonly session: Session }>(path: string, credentials: object): Promise<T> {
  const { body } = await sendRequest<T>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  })
  return body
}

function chooseNew({ session }: { readonly session: Session }): void {
  chooseSession([session], placeOf(session))
}

/** Returns the sessions of the browser: none, or one for each place in which it is signed in. */
export async function readSessions(): Promise<readonly Session[]> {
  try {
    const { body } = await sendRequest<{ sessions: readonly Session[] }>(path, { method: 'GET' })
    return body.sessions
  } catch (error) {
    if (isUnauthenticated(error)) return []
    throw error
  }
}

/** If the session has already ended, that is fine. */
export async function signOut(): Promise<void> {
  try {
    await sendRequest(path, { method: 'DELETE', headers: csrfHeaders() })
  } catch (error) {
    if (!isUnauthenticated(error)) throw error
  }
  endSession('signed_out')
}

/** Checks whether another tab kept the session alive. */
export async function checkSession(): Promise<void> {
  const sessions = await readSessions().catch(() => [])
  const session = currentSession()
  if (session === undefined || !chooseSession(sessions, placeOf(session))) endSession('expired')
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'unauthenticated'
}
