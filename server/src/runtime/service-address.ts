import type { Config } from '../config/settings.ts'
import { listenError } from '../domain/util/listen-error.ts'
import { ownAddress } from '../http/server/listening.ts'

/**
 * Returns the address to listen at, after a check that a server could.
 * @throws OperatorError
 */
export function serviceAddress({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): Promise<string> {
  return ownAddress(HOST, PORT).catch(refuseAddress)
}

export function refuseAddress(error: unknown): never {
  throw listenError(error, { host: 'HOST', port: 'PORT' })
}
