import { hash } from 'node:crypto'

/** Returns a secret key in the form of `UGS_SECRET_KEYS`, derived from the seed. */
export function secretKeyText(id: string, seed: string | number): string {
  return `${id}:${hash('sha256', String(seed), 'base64')}`
}
