import { csrfHeaders, sendRequest } from '../api/request.ts'
import { ApiError } from '../api/errors.ts'
import { beginSession, endSession, noSession, type Session } from './store.ts'

const path = '/console/session'

interface SessionResponse {
  readonly session: Session
}

/** Checks for a session. */
export async function resumeSession(): Promise<void> {
  try {
    const { body } = await sendRequest<SessionResponse>(path, { method: 'GET' })
    beginSession(body.session)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'unauthenticated')) throw error
    noSession()
  }
}

export async function signIn(apiToken: string): Promise<void> {
  const { body } = await sendRequest<SessionResponse>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ api_token: apiToken }),
  })
  beginSession(body.session)
}

/** If the session has already ended, that is fine. */
export async function signOut(): Promise<void> {
  try {
    await sendRequest(path, { method: 'DELETE', headers: csrfHeaders() })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'unauthenticated')) throw error
  }
  endSession('signed_out')
}

/** Checks whether another tab kept the session alive. */
export async function checkSession(): Promise<void> {
  try {
    const { body } = await sendRequest<SessionResponse>(path, { method: 'GET' })
    beginSession(body.session)
  } catch {
    endSession('expired')
  }
}
