import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Environment } from '../environment.ts'
import type { Sealed } from '../secret-key/keyring.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { randomBytes } from '../util/random.ts'
import { maxLifetimeMs } from './viewer-session.ts'

/** Time after which a key signs that replaces another, in milliseconds: twice the time for which verifiers cache the key set. */
const announcedMs = 10 * 60 * 1000
/** Age at which a key is replaced, in milliseconds. */
export const maxKeyAgeMs = 90 * 24 * 60 * 60 * 1000

export interface SigningKeyName extends TenantScope {
  readonly signingKeyId: string
}

/** A public key as members of a JSON Web Key (RFC 7517). */
export interface PublicJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** A key that signs the viewer sessions of a workspace and an environment. Times are milliseconds since the Unix epoch. */
export interface SigningKey extends SigningKeyName {
  readonly publicJwk: PublicJwk
  readonly privateKey: Sealed
  readonly createdAt: number
  readonly signsFrom: number
  /** Time at which it leaves the key set, and its sessions end. Null for the latest key. */
  readonly retiredAt: number | null
}

/** Returns the associated data of the encryption of a private key. */
export function signingKeyContext({ workspaceId, environment, signingKeyId }: SigningKeyName): string {
  return `signing_key/${workspaceId}/${environment}/${signingKeyId}`
}

/** Returns the start of the ids of all keys of a workspace and environment, so that a foreign one is not looked up. */
export function keyIdPrefix({ workspaceId, environment }: TenantScope): string {
  const initials: Record<Environment, string> = { Customer: 'c', Testing: 't' }
  return `${workspaceId}${initials[environment]}-`
}

/** Returns the path of a key set without its extension, which is the issuer of its sessions. */
export function keySetPathOf(workspaceId: number | string, environment: string): string {
  return `/jwks/${workspaceId}/${environment.toLowerCase()}`
}

/** Generates a key for ES256 (RFC 7518, section 3.4). The private key is PKCS #8, in base64. */
export function generateSigningKey(scope: TenantScope) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  return {
    signingKeyId: keyIdPrefix(scope) + randomBytes(4).toString('hex'),
    publicJwk: { kty: 'EC', crv: 'P-256', x, y } as PublicJwk,
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  }
}

export function privateKeyOf(text: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' })
}

export function publicKeyOf({ publicJwk }: Pick<SigningKey, 'publicJwk'>): KeyObject {
  return createPublicKey({ key: { ...publicJwk }, format: 'jwk' })
}

export function isRetired({ retiredAt }: Pick<SigningKey, 'retiredAt'>, now: number): boolean {
  return retiredAt !== null && retiredAt <= now
}

/** Returns the key that signs at `now`; null if there is none. */
export function signingKeyAt(keys: readonly SigningKey[], now: number): SigningKey | null {
  const usable = keys.filter((key) => key.signsFrom <= now && !isRetired(key, now))
  return usable.reduce<SigningKey | null>(
    (latest, key) => (latest === null || key.signsFrom > latest.signsFrom ? key : latest),
    null,
  )
}

/** Times at which a new key begins to sign and the keys before it are retired. */
export interface KeyRotation {
  readonly signsFrom: number
  readonly othersRetiredAt: number
}

/**
 * Plans a rotation. Verifiers learn the new key before it signs, and know the old one until its last session has expired.
 * @param isTheft the old keys are retired, and their sessions end, at once
 */
export function planRotation(now: number, isTheft: boolean): KeyRotation {
  if (isTheft) return { signsFrom: now, othersRetiredAt: now }
  const signsFrom = now + announcedMs
  return { signsFrom, othersRetiredAt: signsFrom + maxLifetimeMs }
}
