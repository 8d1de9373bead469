import type { Logger } from 'pino'
import type { RepeatLimiter } from '../domain/util/repeat-limiter.ts'

/** Returns a function that logs slow statements, at most one a second. */
export function slowStatementLog(
  logger: Pick<Logger, 'warn'>,
  limiter: RepeatLimiter,
): (statement: string, durationMs: number) => void {
  return (statement, durationMs) =>
    limiter.write('slow statement', (suppressed) =>
      logger.warn(
        { statement, duration_ms: durationMs, ...(suppressed > 0 && { suppressed }) },
        'slow statement',
      ),
    )
}
