import { csrfHeaders, sendRequest } from '../api/request.ts'
import { ApiError } from '../api/errors.ts'
import {
  chooseSession,
  chosenEnvironment,
  currentSession,
  endSession,
  forgetLink,
  linkToUse,
  noSession,
  type Session,
} from './store.ts'

const path = '/console/session'

/** Uses the sign-in link that opened this page, or else checks for a session. */
export async function resumeSession(): Promise<void> {
  const secret = linkToUse()
  const isSignedIn = secret !== undefined && (await useLink(secret))
  forgetLink()
  if (isSignedIn) return
  const sessions = await readSessions()
  if (chooseSession(sessions, chosenEnvironment())) return
  if (sessions.length > 0) noSession('elsewhere')
  else noSession(secret === undefined ? undefined : 'unusable_link')
}

export async function signIn(apiToken: string): Promise<void> {
  await postSession(path, { api_token: apiToken })
}

/** Returns false if the link was used before or has expired. */
async function useLink(secret: string): Promise<boolean> {
  try {
    await postSession(`${path}/link`, { secret })
    return true
  } catch (error) {
    if (isUnauthenticated(error)) return false
    throw error
  }
}

async function postSession(path: string, credentials: object): Promise<void> {
  const { body } = await sendRequest<{ session: Session }>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  })
  chooseSession([body.session], body.session.api_environment_tag)
}

/** Returns the sessions of the browser: none, or one for each environment in which it is signed in. */
async function readSessions(): Promise<readonly Session[]> {
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
  const environment = currentSession()?.api_environment_tag
  if (environment === undefined || !chooseSession(sessions, environment)) endSession('expired')
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'unauthenticated'
}
