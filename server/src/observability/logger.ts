import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { RepeatLimiter } from '../domain/util/repeat-limiter.ts'

/** File descriptor of all logs. Standard output is for the person who starts the service. */
const standardError = 2

/** Writes log lines as text for a person, instead of JSON, if standard error is a terminal. */
const terminal: DestinationStream | undefined = isatty(standardError)
  ? { write: (line) => writeToTerminal(readableLine(line)) }
  : undefined

/** Maximum size of the access log's buffer, in bytes. */
const bufferBytes = 4 * 1024 * 1024
/** Maximum size of an atomic write to a pipe on Linux: lines of other processes cannot interrupt it. */
const atomicBytes = 4096
const lossPauseMs = 1000

interface LogOutput {
  readonly destination?: DestinationStream
  /** Limits the lines with the same message and `reason`: while the store fails, every request would log one. */
  readonly limiter?: RepeatLimiter
}

export function createLogger(
  level: string,
  { destination = terminal ?? standardErrorDestination(), limiter = new RepeatLimiter() }: LogOutput = {},
): Logger {
  return pino(
    {
      level,
      base: null,
      hooks: { logMethod: repeatLimit(limiter) },
      // Stacks and drivers' messages may hold secrets.
      serializers: { err: ({ name, code }: { name: string; code?: unknown }) => ({ name, code }) },
    },
    destination,
  )
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

function repeatLimit(limiter: RepeatLimiter): LogMethod {
  return function (args, method) {
    const [fields, message] = args as unknown[]
    if (typeof fields !== 'object' || fields === null || !('reason' in fields)) method.apply(this, args)
    else {
      limiter.write(`${String(message)}\n${String(fields.reason)}`, (suppressed) =>
        method.apply(this, suppressed === 0 ? args : ([{ ...fields, suppressed }, message] as never)),
      )
    }
  }
}

function standardErrorDestination(): DestinationStream {
  const destination = pino.destination({ dest: standardError, sync: true })
  // If the log cannot be written (full disk, closed pipe), its lines are lost and the service continues.
  destination.on('error', () => undefined)
  return destination
}

function writeToTerminal(line: string): void {
  try {
    writeSync(standardError, line)
  } catch {
    // The terminal was closed: its lines are lost and the service continues.
  }
}

/** Formats a line of the log for a person: time in UTC, level, message and the other members. */
export function readableLine(json: string): string {
  const { level, time, msg, ...others } = JSON.parse(json) as {
    level: number
    time: number
    msg?: string
  }
  const members = Object.entries(others).map(([name, value]) => {
    const text = typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value)
    return ` ${name}=${text}`
  })
  const at = new Date(time).toISOString().slice(11, 19)
  const line = `${at} ${pino.levels.labels[level] ?? ''} ${msg ?? ''}${members.join('')}`
  // Control characters could control the terminal.
  return `${line.replaceAll(/\p{Cc}/gu, '?')}\n`
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
  if (terminal !== undefined) {
    return { logger: pino({ base: null }, terminal), close: () => Promise.resolve() }
  }
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
