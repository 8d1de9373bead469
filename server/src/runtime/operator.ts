import { userInfo } from 'node:os'
import type { Actor } from '../domain/audit/audit-event.ts'

/** Whoever runs this process, as the one who asks for what it changes by itself. */
export function operator(): Actor {
  return { author: `cli:${userName()}`, requestId: null }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user that the system has no name for.
    return String(process.getuid?.())
  }
}
