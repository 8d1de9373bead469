import { sign, verify, type KeyObject } from 'node:crypto'

/** The type of the JSON Web Tokens (RFC 7519) of viewer sessions. */
const type = 'ugs-session+jwt'

const headerPattern = new RegExp(`^${headerOf('([\\w-]*)').replace(/[{}+]/g, '\\$&')}$`)

/** A JSON Web Token before its signature was checked. */
export interface UnverifiedJwt {
  readonly keyId: string
  readonly payload: string
  isSignedBy(publicKey: KeyObject): boolean
}

/** Returns whether a text may be a JSON Web Token: no other token of the service starts like a JSON object in base64url. */
export function mayBeJwt(text: string): boolean {
  return text.startsWith('eyJ')
}

/** Signs a payload with ES256 (RFC 7518, section 3.4). */
export function signJwt(payload: string, keyId: string, privateKey: KeyObject): string {
  const signed = `${base64url(headerOf(keyId))}.${base64url(payload)}`
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

/**
 * Reads a token. Returns null if it is not spelled as `signJwt` spells tokens: with another algorithm, type or header parameter, or with
 * another spelling of base64url.
 */
export function readJwt(text: string): UnverifiedJwt | null {
  const [header = '', payload = '', signature = '', ...rest] = text.split('.')
  const [, keyId] = headerPattern.exec(Buffer.from(header, 'base64url').toString('latin1')) ?? []
  const bytes = Buffer.from(signature, 'base64url')
  if (keyId === undefined || rest.length > 0) return null
  if (base64url(headerOf(keyId)) !== header || bytes.toString('base64url') !== signature) return null
  return {
    keyId,
    payload: Buffer.from(payload, 'base64url').toString(),
    isSignedBy: (key) =>
      verify(
        'sha256',
        Buffer.from(text.slice(0, header.length + 1 + payload.length)),
        { key, dsaEncoding: 'ieee-p1363' },
        bytes,
      ),
  }
}

function headerOf(keyId: string): string {
  return `{"alg":"ES256","typ":"${type}","kid":"${keyId}"}`
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
