import { randomBytes } from 'node:crypto'
import type { Environment } from '../../src/domain/environment.ts'
import { LocatorCodec } from '../../src/domain/token/locator.ts'
import { generateUserGroupToken } from '../../src/domain/token/token.ts'

/** Returns a well-formed user group token that no store has issued. */
export function unknownToken(environment: Environment): string {
  return generateUserGroupToken(
    environment,
    new LocatorCodec(randomBytes(16)).encode({ bucket: 0, teamId: 1 }),
  )
}
