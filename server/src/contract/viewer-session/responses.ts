import type { CreatedSession } from '../../domain/viewer-session/viewer-sessions.ts'

/** Returns the members of the session of a `CreateSessionResponse`. */
export function shownSession({ token, sessionId, expiresAt }: CreatedSession, lifetimeSeconds: number) {
  return {
    token,
    session_id: sessionId,
    expires_at: new Date(expiresAt).toISOString().replace('.000Z', 'Z'),
    expires_in_seconds: lifetimeSeconds,
  }
}

export function createSessionResponse(created: CreatedSession, lifetimeSeconds: number): string {
  return JSON.stringify({ success: 1, session: shownSession(created, lifetimeSeconds) })
}

export const endSessionsResponse = '{"success":1}'
