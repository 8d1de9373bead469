import assert from 'node:assert/strict'
import { hash } from 'node:crypto'

/** A token, shown in full. */
export const tokenPattern = /ug[at]_(?:customer|testing)_\w+/g

/** What of a secret is random: all but the prefix of a token, that tells its kind. */
export function randomPartOf(secret: string): string {
  return secret.replace(/^ug[at]_(?:customer|testing)_/, '')
}

/** How a secret may stand somewhere: as it is, without the prefix that tells its kind, and in base64 or hex. */
function formsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  // Where it is a part of something longer, the ends are others.
  const base64 = [0, 1, 2].map((start) => bytes.subarray(start).toString('base64').slice(0, -4))
  const texts = [secret, randomPartOf(secret), bytes.toString('hex'), ...base64]
  return [...texts.map((text) => Buffer.from(text)), Buffer.from(secret, 'base64url')]
}

/** What is kept of a token, which is not to be told either. */
function digestsOf(secret: string): Buffer[] {
  const digest = hash('sha256', secret, 'buffer')
  const texts = (['hex', 'base64', 'base64url'] as const).map((encoding) => digest.toString(encoding))
  return [digest, ...texts.map((text) => Buffer.from(text.replace(/=+$/, '')))]
}

/** Asserts that none of the secrets is in there, in whatever form. */
export function assertNoSecret(where: string, bytes: Buffer | string, secrets: Iterable<string>): void {
  const all = Buffer.from(bytes as string)
  for (const secret of secrets)
    for (const form of formsOf(secret)) assert.ok(!all.includes(form), `a secret is in ${where}`)
}

/** And no digest of one. */
export function assertNothingOfSecrets(where: string, text: string, secrets: Iterable<string>): void {
  const all = [...secrets]
  assertNoSecret(where, text, all)
  for (const secret of all)
    for (const digest of digestsOf(secret))
      assert.ok(!Buffer.from(text).includes(digest), `the digest of a secret is in ${where}`)
}
