import type { CreatedSession } from '../../domain/viewer-session/viewer-sessions.ts'

export function createSessionResponse(
  { token, sessionId, expiresAt }: CreatedSession,
  lifetimeSeconds: number,
): string {
  return JSON.stringify({
    success: 1,
    session: {
      token,
      session_id: sessionId,
      expires_at: new Date(expiresAt).toISOString().replace('.000Z', 'Z'),
      expires_in_seconds: lifetimeSeconds,
    },
  })
}

export const endSessionsResponse = '{"success":1}'
