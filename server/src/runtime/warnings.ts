import type { Logger } from 'pino'
import { Fault } from '../domain/fault.ts'

/** Returns a function that logs a warning with the reason of an error. */
export type Warn = (message: string) => (error: unknown) => void

export function warningsOf(logger: Logger): Warn {
  return (message) => (error) => logger.warn({ reason: reasonOf(error) }, message)
}

/** Returns the reason of a fault, for the log. The message of any other error could contain secrets. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof Fault ? error.reason : undefined
}
