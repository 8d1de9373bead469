import { pino, type Logger } from 'pino'

/** Writes to standard error: standard output is for the person who started the service. */
export function makeLogger(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true })
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
