import { hash, randomBytes } from 'node:crypto'
import type { Actor } from '../../../src/domain/audit/audit-event.ts'
import type { DeleteUserGroup, IssueToken } from '../../../src/domain/user-group/user-group-store.ts'
import type { NewConsoleSession } from '../../../src/domain/session/session-store.ts'
import type { NewWorkspace } from '../../../src/domain/workspace/workspace-store.ts'
import type {
  TokenlessUserGroup,
  UserGroup,
  UserGroupKey,
} from '../../../src/domain/user-group/user-group.ts'

/** Whose calls the tests of the stores make. */
export const origin: Actor = { author: 'api_token:1', requestId: 'request-1' }

/** A new session of the console, for an API token by its id. */
export function newSession(hash: Uint8Array, id: number, now: number): NewConsoleSession {
  return { hash, apiToken: { id, workspaceId: 1, environment: 'Customer' }, requestId: 'request-1', now }
}

/** A new workspace without an API token. */
export function newWorkspace(name: string, createdAt = 1): NewWorkspace {
  return { name, createdAt, environment: 'Customer', ...origin }
}

/** The deletion of a user group, by its key. */
export function deletion({ workspaceId, environment, providedId }: UserGroupKey): DeleteUserGroup {
  return { key: { workspaceId, environment, providedId }, ...origin, now: 9000 }
}

/** A token whose sealed form is the token itself: what a store does with it is the same. */
export const mint: IssueToken = () => {
  const token = randomBytes(24)
  return { hash: hashOf({ sealed: token }), keyId: 'test', sealed: token }
}

export function hashOf({ sealed }: { readonly sealed: Uint8Array }): Buffer {
  return hash('sha256', Buffer.from(sealed), 'buffer')
}

/** A user group as it is told with one of its tokens. */
export function tokenless(userGroup: UserGroup): TokenlessUserGroup {
  const told: TokenlessUserGroup & { token?: unknown } = { ...userGroup }
  delete told.token
  return told
}

let keys = 0

export function freshKey(): UserGroupKey {
  return { workspaceId: 1, environment: 'Customer', providedId: `id-${keys++}` }
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** The same value with its bytes as text, so that a driver's kind of byte array does not matter. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => {
      if (member instanceof Uint8Array) return text(member)
      const isBuffer = typeof member === 'object' && member !== null && 'type' in member && 'data' in member
      return isBuffer ? text(Uint8Array.from(member.data as number[])) : member
    }),
  )
}

export function count(results: readonly { outcome: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
