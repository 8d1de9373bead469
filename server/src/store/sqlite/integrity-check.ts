// Process of `Integrity`. Its argument is the path of a database. Prints the first fault as JSON, null if there is none.
import { setPriority } from 'node:os'
import BetterSqlite3 from 'better-sqlite3'
import { firstFault } from './first-fault.ts'
import { isDamage } from './sqlite-fault.ts'

/** Lets the service have the processor first. */
setPriority(10)

const database = new BetterSqlite3(process.argv[2], { fileMustExist: true })
// Detects a damaged page when it is read.
database.pragma('cell_size_check = ON')
console.log(JSON.stringify(check()))
database.close()

function check(): string | null {
  try {
    return firstFault(database)
  } catch (error) {
    if (!isDamage(error)) throw error
    return error.code
  }
}
