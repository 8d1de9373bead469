import assert from 'node:assert/strict'
import { hash } from 'node:crypto'

/** Matches a token. */
export const tokenPattern = /ug[at]_(?:customer|testing)_\w+|whsec_[\w+/]{43}=|eyJ[\w-]+\.[\w-]+\.[\w-]{86}/g

/** Returns the random part of a secret: a token without its prefix. */
export function randomPartOf(secret: string): string {
  return secret.replace(/^ug[at]_(?:customer|testing)_/, '')
}

/** Returns the forms in which a secret may appear: plain, without its prefix, in base64 and in hex. */
function formsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  // Within a longer text, base64 differs at both ends.
  const base64 = [0, 1, 2].map((start) => bytes.subarray(start).toString('base64').slice(0, -4))
  const texts = [secret, randomPartOf(secret), bytes.toString('hex'), ...base64]
  return [...texts.map((text) => Buffer.from(text)), Buffer.from(secret, 'base64url')]
}

/** Returns the stored digests of a token, which must stay secret too. */
function digestsOf(secret: string): Buffer[] {
  const digest = hash('sha256', secret, 'buffer')
  const texts = (['hex', 'base64', 'base64url'] as const).map((encoding) => digest.toString(encoding))
  return [digest, ...texts.map((text) => Buffer.from(text.replace(/=+$/, '')))]
}

/** Asserts that the text contains none of the secrets in any form. */
export function assertNoSecret(where: string, bytes: Buffer | string, secrets: Iterable<string>): void {
  const all = Buffer.from(bytes as string)
  for (const secret of secrets)
    for (const form of formsOf(secret)) assert.ok(!all.includes(form), `a secret is in ${where}`)
}

/** Asserts that the text contains neither a secret nor its digest. */
export function assertNothingOfSecrets(where: string, text: string, secrets: Iterable<string>): void {
  const all = [...secrets]
  assertNoSecret(where, text, all)
  for (const secret of all)
    for (const digest of digestsOf(secret))
      assert.ok(!Buffer.from(text).includes(digest), `the digest of a secret is in ${where}`)
}
