/** The viewer sessions of a user group that end: all, those of one viewer, or one. */
export type SessionSubject =
  'all' | { readonly viewerId: string } | { readonly viewerId: string; readonly sessionId: string }

/** Sessions with this subject that were issued at `endedAt` or earlier are over. */
export interface EndedSessions {
  readonly subject: string
  readonly endedAt: number
}

/** Returns the subject as the store keeps it. */
export function endedSubject(subject: SessionSubject): string {
  if (subject === 'all') return ''
  return 'sessionId' in subject ? `s/${subject.sessionId}` : `v/${subject.viewerId}`
}

/** Returns the details of the audit event. */
export function endedDetails(subject: SessionSubject): object | null {
  if (subject === 'all') return null
  const { viewerId: viewer_id } = subject
  return 'sessionId' in subject ? { viewer_id, session_id: subject.sessionId } : { viewer_id }
}
