import { hash, randomBytes } from 'node:crypto'
import type { MintToken } from '../../src/domain/store.ts'
import type { UserGroupKey } from '../../src/domain/user-group.ts'

/** A token whose sealed form is the token itself: what a store does with it is the same. */
export const mint: MintToken = () => {
  const token = randomBytes(24)
  return { hash: hashOf({ sealed: token }), keyId: 'test', sealed: token }
}

export function hashOf({ sealed }: { readonly sealed: Uint8Array }): Buffer {
  return hash('sha256', Buffer.from(sealed), 'buffer')
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
