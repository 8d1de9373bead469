import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import type { ApiToken, HashedApiToken } from '../../../src/domain/api-token/api-token.ts'
import type { Actor } from '../../../src/domain/audit/audit-event.ts'
import type { Expiry } from '../../../src/domain/expiry.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type {
  DeleteUserGroup,
  IssueToken,
  TokenReference,
} from '../../../src/domain/user-group/user-group-store.ts'
import type { NewConsoleSession } from '../../../src/domain/console-session/console-session-store.ts'
import type { NewWorkspace } from '../../../src/domain/workspace/workspace-store.ts'
import type {
  TokenlessUserGroup,
  UserGroup,
  UserGroupKey,
} from '../../../src/domain/user-group/user-group.ts'

/** Default actor of the changes in store tests. */
export const actor: Actor = { author: 'api_token:1', requestId: 'request-1' }

/** Times at which nothing has expired. */
export const noneExpired: Expiry = {
  now: 0,
  deletedBefore: 0,
  usedBefore: 0,
  changedBefore: 0,
  usageBefore: 0,
}

/** Returns a new console session for the API token with this id. */
export function newSession(hash: Uint8Array, id: number, now: number): NewConsoleSession {
  return { hash, principal: { id, workspaceId: 1, environment: 'Customer' }, requestId: 'request-1', now }
}

/** Returns a new workspace without an API token. */
export function newWorkspace(name: string, createdAt = 1): NewWorkspace {
  return { name, createdAt, environment: 'Customer', ...actor }
}

/** Returns the command that deletes a user group. */
export function deletion({ workspaceId, environment, providedId }: UserGroupKey): DeleteUserGroup {
  return { key: { workspaceId, environment, providedId }, ...actor, now: 9000 }
}

/** Issues a token without encryption, which makes no difference to a store. The token contains its location, as real ones do. */
export const mint: IssueToken = (_key, { bucket, teamId }) => {
  const token = Buffer.concat([Buffer.alloc(10), randomBytes(24)])
  token.writeUInt16BE(bucket, 0)
  token.writeBigUInt64BE(BigInt(teamId), 2)
  return { hash: hashOf({ sealed: token }), keyId: 'test', sealed: token }
}

/** Returns how a store looks up a token that `mint` issued. */
export function referenceOf({ sealed }: { readonly sealed: Uint8Array }): TokenReference {
  const token = Buffer.from(sealed)
  const [bucket, teamId] = [token.readUInt16BE(0), Number(token.readBigUInt64BE(2))]
  return { bucket, teamId, hash: hashOf({ sealed }) }
}

/** Returns how a store looks up a token of a user group that was never issued. */
export function unknownTokenOf(userGroup: UserGroupKey & { readonly teamId: number }): TokenReference {
  return { ...locationOf(userGroup), hash: randomBytes(32) }
}

export function hashOf({ sealed }: { readonly sealed: Uint8Array }): Buffer {
  return hash('sha256', Buffer.from(sealed), 'buffer')
}

/** Returns the user group as a token lookup returns it. */
export function tokenless(userGroup: UserGroup): TokenlessUserGroup {
  const copy: TokenlessUserGroup & { token?: unknown } = { ...userGroup }
  delete copy.token
  return copy
}

let keys = 0

/** Returns API tokens of a list as others show them. */
export function withoutHashes(apiTokens: readonly HashedApiToken[]): ApiToken[] {
  return apiTokens.map((listed) => {
    const { tokenHash, ...apiToken } = listed
    assert.equal(tokenHash.length, 32)
    return apiToken
  })
}

export function freshKey(): UserGroupKey {
  return { workspaceId: 1, environment: 'Customer', providedId: `id-${keys++}` }
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** Returns the value with bytes as hexadecimal text, because drivers use different byte array types. */
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
