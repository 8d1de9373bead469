import { hash } from 'node:crypto'

/** A secret key as `UGS_SECRET_KEYS` has it: always the same for a seed. */
export function secretKeyText(id: string, seed: string | number): string {
  return `${id}:${hash('sha256', String(seed), 'base64')}`
}
