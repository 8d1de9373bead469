import { errorCodeOf } from './error-code.ts'

/** The program cannot listen at a configured address. The message is for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** Names of the settings with an address. */
export interface AddressSettings {
  readonly host: string
  readonly port: string
}

/** Returns the error that names the settings to change. */
export function listenError(error: unknown, { host, port }: AddressSettings): ListenError {
  const code = errorCodeOf(error) ?? 'unknown'
  return new ListenError(
    code === 'EADDRINUSE'
      ? `${port}: the address is already in use; use another port`
      : `${host}: cannot listen at this address (${code}); check it and ${port}`,
  )
}
