import { reportError } from './cli/exit-code.ts'
import { buildProgram } from './cli/program.ts'

// Only the owner may access files of this process: the database, its write-ahead log, the secret keys.
process.umask(0o077)

// After an uncaught exception, the state of the process is unknown. Everything acknowledged is on disk.
process.on('uncaughtException', (error) => process.exit(reportError(error)))

try {
  await buildProgram().parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}
