import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Database } from 'better-sqlite3'
import { Fault } from '../../domain/fault.ts'
import type { StoreIntegrity } from '../../domain/store.ts'
import type { DamageMark } from './damage-mark.ts'
import { firstFault } from './first-fault.ts'
import { faultOf, isDamage } from './sqlite-fault.ts'

/** Maximum size of a database that is checked before its service starts, in bytes: 0.6 s of work, 200,000 user groups. */
const smallBytes = 128 * 1_048_576
/** Minimum interval of checks because of a suspicion, in milliseconds. */
const suspicionMs = 60_000

/** Checks the database, and marks it as damaged if it is. */
export class Integrity implements StoreIntegrity {
  readonly #database: Database
  readonly #path: string
  readonly #mark: DamageMark
  #checker: ChildProcess | undefined
  #checkedAt = -Infinity

  constructor(database: Database, path: string, mark: DamageMark) {
    this.#database = database
    this.#path = path
    this.#mark = mark
  }

  get damage(): string | null {
    return this.#mark.reason
  }

  checkIfSmall(): boolean {
    if (statSync(this.#path).size > smallBytes) return false
    this.#record(() => firstFault(this.#database))
    return true
  }

  /** Runs in another process, because SQLite cannot interrupt a check, and a thread in the middle of it could not stop. */
  async check(): Promise<void> {
    if (this.#checker !== undefined) return
    this.#checkedAt = performance.now()
    const script = fileURLToPath(new URL('integrity-check.js', import.meta.url))
    const checker = spawn(process.execPath, [script, this.#path], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {},
    })
    this.#checker = checker
    try {
      const ended = once(checker, 'close') as Promise<[number | null]>
      const [output, [code]] = await Promise.all([text(checker.stdout), ended])
      if (checker.killed) return
      if (code !== 0) throw new Fault('unavailable', 'The check failed', { reason: 'STORE_UNCHECKED' })
      this.#record(() => JSON.parse(output) as string | null)
    } finally {
      this.#checker = undefined
    }
  }

  suspect(): void {
    if (performance.now() - this.#checkedAt < suspicionMs) return
    // The next regular check reports a failure.
    this.check().catch(() => undefined)
  }

  /** Call it with the error of each failed operation or transaction. */
  afterError(error: unknown): void {
    if (isDamage(error)) this.#mark.set(error.code)
    else if (isUnexpected(error)) this.suspect()
  }

  /** Call it before each commit that writes. @throws StoreDamagedError */
  refuseChange(): void {
    this.#mark.refuseChange()
  }

  /** Call it if a row is absent: damage may hide it. @throws StoreDamagedError */
  refuseAbsence(): void {
    this.#mark.refuseAbsence()
  }

  close(): void {
    this.#checker?.kill()
  }

  #record(check: () => string | null): void {
    try {
      const fault = check()
      if (fault !== null) this.#mark.set(fault)
    } catch (error) {
      if (!isDamage(error)) throw faultOf(error)
      this.#mark.set(error.code)
    }
  }
}

/** Returns whether a row may not be as the service wrote it, or a constraint was violated. */
function isUnexpected(error: unknown): boolean {
  const fault = faultOf(error)
  return error instanceof SyntaxError || !(fault instanceof Fault) || fault.code === 'internal'
}
