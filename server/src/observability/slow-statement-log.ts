import type { Logger } from 'pino'
import { RepeatLimiter } from '../domain/util/repeat-limiter.ts'

/** Returns a function that logs slow statements, at most one a second. */
export function slowStatementLog(
  logger: Pick<Logger, 'warn'>,
): (statement: string, durationMs: number) => void {
  const limiter = new RepeatLimiter()
  return (statement, durationMs) =>
    limiter.write('', (suppressed) =>
      logger.warn(
        { statement, duration_ms: durationMs, ...(suppressed > 0 && { suppressed }) },
        'slow statement',
      ),
    )
}
