import { readdirSync, readFileSync } from 'node:fs'
import { packageFolder } from '../package-folder.ts'
import { StoreError } from './store-error.ts'

/**
 * `auto` applies pending migrations. `check` refuses a database that has any and leaves them to `ugs migrate`. `contract` also
 * removes what only earlier releases need.
 */
export type MigrateMode = 'auto' | 'check' | 'contract'

/**
 * Decides whether the tables of a Citus cluster are distributed. `new`: only those of a store that is created now, because the
 * distribution of rows blocks statements. `required`: also those of an existing store, and fail if that is impossible.
 */
export type DistributeMode = 'new' | 'required' | 'never'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** Returns the numbered SQL files of a dialect (`migrations/<dialect>/0001-name.sql`), in order and without gaps. */
export function readMigrations(dialect: 'sqlite' | 'postgres'): Migration[] {
  const folder = new URL(`migrations/${dialect}/`, packageFolder)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file, index) => {
      const version = Number.parseInt(file, 10)
      if (version !== index + 1) throw new Error(`migration ${file} is out of order`)
      return {
        version,
        name: file.replace(/^\d+-|\.sql$/g, ''),
        sql: readFileSync(new URL(file, folder), 'utf8'),
      }
    })
}

export type AppliedMigration = Pick<Migration, 'version' | 'name'>

/** Name prefix of a migration whose tables work with earlier releases too. */
const additive = 'additive-'
/** Name prefix of a migration that removes what only earlier releases need. This release works with and without it. */
const contract = 'contract-'

export function isContract({ name }: AppliedMigration): boolean {
  return name.startsWith(contract)
}

/**
 * Returns the migrations that the database lacks. In an existing store, contracts are applied in mode `contract` only.
 * @throws StoreError if a newer release changed the database incompatibly, or if migrations are pending in mode `check`
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  mode: MigrateMode,
): readonly Migration[] {
  refuseEarlierBuild(migrations, applied)
  checkKnown(
    migrations,
    applied.filter(({ name }) => !name.startsWith(additive)),
  )
  const withContracts = mode === 'contract' || applied.length === 0
  const versions = new Set(applied.map(({ version }) => version))
  const pending = migrations.filter(
    (migration) => !versions.has(migration.version) && (withContracts || !isContract(migration)),
  )
  const needed = pending.findLast((migration) => !isContract(migration))
  if (needed !== undefined && mode === 'check') {
    throw new StoreError(
      `the database has schema version ${versionOf(applied)}, and this release needs ${needed.version}; run \`ugs migrate\`, or set UGS_MIGRATE=auto`,
    )
  }
  return mode === 'check' ? [] : pending
}

/** Refuses a database with unknown columns. @throws StoreError if a newer release has added anything */
export function checkKnown(migrations: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const version = versionOf(applied)
  if (version > migrations.length) {
    throw new StoreError(
      `the database has schema version ${version}, and this release knows up to ${migrations.length}; start the release that wrote it, or a newer one`,
    )
  }
}

/** @throws StoreError if a build from before the first release created the store: its migrations had other names */
function refuseEarlierBuild(migrations: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const first = applied.find(({ version }) => version === 1)
  if (first === undefined || first.name === migrations[0]?.name) return
  throw new StoreError(
    'a build from before version 1.0 created the store, which this release cannot migrate; run `ugs export` with that build, and `ugs import` with this release into a new store',
  )
}

function versionOf(applied: readonly AppliedMigration[]): number {
  return Math.max(0, ...applied.map(({ version }) => version))
}
