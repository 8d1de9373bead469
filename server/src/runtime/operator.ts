import { userInfo } from 'node:os'
import type { Actor } from '../domain/audit/audit-event.ts'

/** Returns the user who runs this process, as the actor of its changes. */
export function operator(): Actor {
  return { author: `cli:${userName()}`, requestId: null }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container, the user may have no name.
    return String(process.getuid?.())
  }
}
