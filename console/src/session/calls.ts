import { csrfHeaders, exchange } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { beginSession, endSession, noSession, type Session } from './store.ts'

const path = '/console/session'

interface SessionAnswer {
  readonly session: Session
}

/** Looks whether somebody is signed in. */
export async function resumeSession(): Promise<void> {
  try {
    const { body } = await exchange<SessionAnswer>(path, { method: 'GET' })
    beginSession(body.session)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'unauthenticated')) throw error
    noSession()
  }
}

export async function signIn(apiToken: string): Promise<void> {
  const { body } = await exchange<SessionAnswer>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ api_token: apiToken }),
  })
  beginSession(body.session)
}

/** Where the session is over already, that is as good. */
export async function signOut(): Promise<void> {
  try {
    await exchange(path, { method: 'DELETE', headers: csrfHeaders() })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'unauthenticated')) throw error
  }
  endSession('signed_out')
}

/** Looks whether the session goes on, for another tab may have kept it alive. */
export async function checkSession(): Promise<void> {
  try {
    const { body } = await exchange<SessionAnswer>(path, { method: 'GET' })
    beginSession(body.session)
  } catch {
    endSession('expired')
  }
}
