import { once } from 'node:events'
import { pino, type Logger } from 'pino'

/** File descriptor of all logs. Standard output is for the person who starts the service. */
const standardError = 2

/** Maximum size of the access log's buffer, in bytes. */
const bufferBytes = 4 * 1024 * 1024
/** Maximum size of an atomic write to a pipe on Linux: lines of other processes cannot interrupt it. */
const atomicBytes = 4096
const lossPauseMs = 1000

export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: standardError, sync: true })
  // If the log cannot be written (full disk, closed pipe), its lines are lost and the service continues.
  destination.on('error', () => undefined)
  return pino(
    {
      level,
      base: null,
      // Stacks and drivers' messages may hold secrets.
      serializers: { err: ({ name, code }: { name: string; code?: unknown }) => ({ name, code }) },
    },
    destination,
  )
}

export interface AccessLogger {
  readonly logger: Logger
  /** Writes the buffer and closes the log. */
  close(): Promise<void>
}

/**
 * Creates a logger that writes in the background, so that no request waits for the log's reader. If the reader is too slow,
 * lines are lost, and `log` gets a warning.
 */
export function createAccessLogger(log: Pick<Logger, 'warn'>): AccessLogger {
  const destination = pino.destination({
    dest: standardError,
    sync: false,
    maxLength: bufferBytes,
    maxWrite: atomicBytes,
  })
  destination.on('error', () => undefined)
  let lost = 0
  destination.on('drop', () => {
    if (lost++ > 0) return
    setTimeout(() => {
      log.warn({ lines: lost }, 'lines of the access log were lost: its reader is too slow')
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
