import { OperatorError } from './operator-error.ts'
import { errorCodeOf } from './error-code.ts'

/** Names of the settings with an address. */
export interface AddressSettings {
  readonly host: string
  readonly port: string
}

/** Returns the error that names the settings to change. */
export function listenError(error: unknown, { host, port }: AddressSettings): OperatorError {
  const code = errorCodeOf(error) ?? 'unknown'
  return new OperatorError(
    code === 'EADDRINUSE'
      ? `${port}: the address is already in use; use another port`
      : `${host}: cannot listen at this address (${code}); check it and ${port}`,
  )
}
