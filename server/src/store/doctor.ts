import { statfsSync } from 'node:fs'
import {
  isContract,
  pendingMigrations,
  readMigrations,
  type AppliedMigration,
  type Migration,
} from './migrations.ts'
import type { SecretKeyStore } from '../domain/secret-key/secret-key-store.ts'
import { StoreError } from './store-error.ts'

/** Error: something does not work or data may be lost. Warning: it works, but needs attention or could not be checked. */
type Severity = 'error' | 'warning'

/** A problem that a check found. Contains no secret. */
export interface Finding {
  readonly severity: Severity
  readonly problem: string
  /** Instruction that solves the problem, with the command to run. */
  readonly remedy: string
}

/** Examines one aspect of a store or its surroundings. Changes nothing. */
export interface Check {
  readonly name: string
  /** Names of earlier checks. If one of them finds an error or is skipped, this check is skipped. */
  readonly needs?: readonly string[]
  /** Returns null if the check does not apply to this store. */
  readonly run: () => Promise<readonly Finding[] | null> | readonly Finding[] | null
}

export interface CheckResult {
  readonly name: string
  readonly status: 'passed' | 'skipped' | Severity
  readonly findings: readonly Finding[]
}

/** Checks of one store. */
export interface StoreExamination {
  /** In the order in which they must run. One of them is named `schema`. */
  readonly checks: readonly Check[]
  /** Reads the key checks of a store whose check `schema` passed. */
  readonly secretKeys: Pick<SecretKeyStore, 'listChecks' | 'listRetired'>
  readonly close: () => Promise<void>
}

export const error = (problem: string, remedy: string): Finding => ({ severity: 'error', problem, remedy })
export const warning = (problem: string, remedy: string): Finding => ({
  severity: 'warning',
  problem,
  remedy,
})

export async function runChecks(checks: readonly Check[]): Promise<CheckResult[]> {
  const results = new Map<string, CheckResult>()
  for (const { name, needs = [], run } of checks) {
    const isBlocked = needs.some((need) => ['error', 'skipped'].includes(results.get(need)?.status ?? ''))
    const findings = isBlocked ? null : await run()
    results.set(name, { name, status: statusOf(findings), findings: findings ?? [] })
  }
  return [...results.values()]
}

function statusOf(findings: readonly Finding[] | null): CheckResult['status'] {
  if (findings === null) return 'skipped'
  if (findings.some(({ severity }) => severity === 'error')) return 'error'
  return findings.length > 0 ? 'warning' : 'passed'
}

/** Splits the message of a StoreError or SecretKeyError, "problem; remedy". */
export function findingOf(message: string, defaultRemedy: string): Finding {
  const end = message.search(/; |: run /)
  if (end === -1) return error(sentence(message), defaultRemedy)
  return error(sentence(message.slice(0, end)), sentence(capitalized(message.slice(end + 2))))
}

const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`)
const capitalized = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

export function findSchemaProblems(
  dialect: 'sqlite' | 'postgres',
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[] = readMigrations(dialect),
): Finding[] {
  if (applied.length === 0)
    return [error('The store has no tables.', 'Run `ugs migrate`, or check DATABASE_URL.')]
  let pending
  try {
    pending = pendingMigrations(migrations, applied, 'contract')
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure
    return [findingOf(capitalized(failure.message), '')]
  }
  const needed = pending.filter((migration) => !isContract(migration))
  if (needed.length > 0) return [error(`${pendingText(needed)} pending.`, 'Run `ugs migrate`.')]
  if (pending.length === 0) return []
  return [
    warning(
      `${pendingText(pending)} pending: the store keeps what only the previous release needs.`,
      'Run `ugs migrate --contract` once no process of the previous release uses the store.',
    ),
  ]
}

function pendingText(migrations: readonly AppliedMigration[]): string {
  const names = migrations.map(({ version, name }) => `${String(version).padStart(4, '0')}-${name}`)
  return `${names.length === 1 ? 'The migration' : 'The migrations'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'}`
}

/** Share of the ids of a counter after which the check warns, and fails. */
const warnedShare = 0.8
const refusedShare = 0.95
/** Ids are JavaScript numbers. */
export const maxId = Number.MAX_SAFE_INTEGER

/** Returns a finding if few ids are left. `name` is the column that the ids are for. */
export function findNearLimit(name: string, last: number, limit: number, remedy: string): Finding[] {
  const share = last / limit
  if (share < warnedShare) return []
  const problem = `The ids of ${name} are at ${last} of at most ${limit}.`
  return [share < refusedShare ? warning(problem, remedy) : error(problem, remedy)]
}

const mebibyte = 1_048_576
/** Free space below which writes will fail soon, in bytes. */
const minimumFreeBytes = 64 * mebibyte

/** Checks the disk of a folder. `wantedBytes` is the space that maintenance needs. */
export function findDiskProblems(folder: string, wantedBytes: number): Finding[] {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const problem = `The disk of ${folder} has ${megabytes(free)} free`
  const remedy = `Free some space on it, or enlarge it: \`df -h ${folder}\`.`
  if (free < minimumFreeBytes) return [error(`${problem}; writes will fail soon.`, remedy)]
  return free < wantedBytes
    ? [
        warning(
          `${problem}, less than the ${megabytes(wantedBytes)} that a migration or a copy may need.`,
          remedy,
        ),
      ]
    : []
}

export function megabytes(bytes: number): string {
  return `${Math.floor(bytes / mebibyte)} MiB`
}
