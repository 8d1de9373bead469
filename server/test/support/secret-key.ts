import { hash } from 'node:crypto'
import { utimesSync } from 'node:fs'

/** Returns a secret key in the form of `UGS_SECRET_KEYS`, derived from the seed. */
export function secretKeyText(id: string, seed: string | number): string {
  return `${id}:${hash('sha256', String(seed), 'base64')}`
}

/** Makes a key file look old, because `ugs secret-key reseal` waits until all services have read a new one. */
export function letSettle(file: string): void {
  utimesSync(file, 0, 0)
}
