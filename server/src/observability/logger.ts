import { once } from 'node:events'
import { pino, type Logger } from 'pino'

/** Standard error: standard output is for the person who started the service. */
const standardError = 2

/** How much of the access log may wait to be written, in bytes. */
const waitingBytes = 4 * 1024 * 1024
/** What a pipe takes in one piece (Linux), so that no other line, of another process even, gets into one. */
const pieceBytes = 4096
const lossPauseMs = 1000

export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: standardError, sync: true })
  // A log that cannot be written (a full disk, a closed pipe) is lost; the service goes on, and can still be stopped.
  destination.on('error', () => undefined)
  return pino(
    {
      level,
      base: null,
      // No stack and no driver's message reaches the log, whoever writes to it.
      serializers: { err: ({ name, code }: { name: string; code?: unknown }) => ({ name, code }) },
    },
    destination,
  )
}

export interface AccessLogger {
  readonly logger: Logger
  /** Writes what waits to be written. */
  close(): Promise<void>
}

/**
 * For a line a call, at any level of the other log. It is written beside the calls, so that none waits for whoever reads it;
 * where that is too slow, lines are lost, which `log` is told.
 */
export function createAccessLogger(log: Pick<Logger, 'warn'>): AccessLogger {
  const destination = pino.destination({
    dest: standardError,
    sync: false,
    maxLength: waitingBytes,
    maxWrite: pieceBytes,
  })
  destination.on('error', () => undefined)
  let lost = 0
  destination.on('drop', () => {
    if (lost++ > 0) return
    setTimeout(() => {
      log.warn({ lines: lost }, 'lines of the access log were lost: they are not read fast enough')
      lost = 0
    }, lossPauseMs).unref()
  })
  return {
    logger: pino({ base: null }, destination),
    close: async () => {
      destination.end()
      await once(destination, 'close').catch(() => undefined)
    },
  }
}
