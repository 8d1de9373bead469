import { errorMessageOf } from './cli/exit-code.ts'
import { buildProgram } from './cli/program.ts'

// Whatever is made from here on is the owner's alone: the database, its write-ahead log, the secret key.
process.umask(0o077)

// A defect ends the process: what it left half done is not known. Everything acknowledged is on the disk.
process.on('uncaughtException', (error) => process.exit(errorMessageOf(error)))

try {
  await buildProgram().parseAsync()
} catch (error) {
  process.exitCode = errorMessageOf(error)
}
