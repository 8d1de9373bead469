import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** The store refuses changes, because it is damaged. The message has a code and the remedy, for the log. */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError'
}

/** Minimum interval of looking for the mark because of absences, in milliseconds. */
const lookEveryMs = 1000

/**
 * Marks a database as damaged by a file next to it, so that all processes refuse changes, also after a restart, until an operator
 * removes the mark.
 */
export class DamageMark {
  readonly #path: string
  readonly #onDamage: (reason: string) => void
  /** Set if the mark could not be written, for example because the file system is read-only. */
  #unwritten: string | undefined
  #isReported = false
  /** State at `#lookedAt`. */
  #isSet = false
  #lookedAt = -Infinity

  /**
   * @param path path of the database
   * @param onDamage called once, when this process first finds the database marked
   */
  constructor(path: string, onDamage: (reason: string) => void = () => undefined) {
    this.#path = path
    this.#onDamage = onDamage
  }

  /** Reason for which changes are refused, or null. */
  get reason(): string | null {
    const mark = this.#unwritten ?? readMark(this.#path)
    if (mark === null) {
      this.#isReported = false
      return null
    }
    return this.#report(mark)
  }

  /** @param cause code of the error, or what a check has found */
  set(cause: string): void {
    if (this.reason !== null) return
    const mark = `${cause} at ${new Date().toISOString()}`
    try {
      writeMark(this.#path, mark)
    } catch {
      this.#unwritten = mark
    }
    this.#isSet = true
    this.#report(mark)
  }

  /** @throws StoreDamagedError if the database is marked */
  refuseChange(): void {
    this.#lookedAt = performance.now()
    this.#isSet = this.#unwritten !== undefined || hasMark(this.#path)
    this.#refuseIfSet()
  }

  /**
   * Call it if a row is absent: damage may hide it. Looks for another process's mark once a second, because tokens that do not exist are
   * frequent under attack.
   * @throws StoreDamagedError if the database is marked
   */
  refuseAbsence(): void {
    if (performance.now() - this.#lookedAt >= lookEveryMs) this.refuseChange()
    else this.#refuseIfSet()
  }

  #refuseIfSet(): void {
    const reason = this.#isSet ? this.reason : null
    if (reason !== null) throw new StoreDamagedError(reason)
  }

  #report(mark: string): string {
    const reason = `STORE_DAMAGED: ${mark}; reads continue, changes are refused until the store is repaired and \`ugs store resume\` was run`
    if (!this.#isReported) this.#onDamage(reason)
    this.#isReported = true
    return reason
  }
}

function fileOf(path: string): string {
  return `${path}-damaged`
}

function hasMark(path: string): boolean {
  return statSync(fileOf(path), { throwIfNoEntry: false }) !== undefined
}

function writeMark(path: string, mark: string): void {
  const descriptor = openSync(fileOf(path), 'w', 0o600)
  try {
    writeSync(descriptor, `${mark}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  flushFolder(path)
}

/** Returns the text of the mark of a database, or null without one. A mark without text counts too: the disk may have been full. */
export function readMark(path: string): string | null {
  if (!hasMark(path)) return null
  const unknown = 'marked as damaged'
  try {
    return readFileSync(fileOf(path), 'utf8').trim() || unknown
  } catch {
    return unknown
  }
}

export function removeMark(path: string): void {
  rmSync(fileOf(path), { force: true })
  flushFolder(path)
}

function flushFolder(path: string): void {
  const descriptor = openSync(dirname(path), 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
