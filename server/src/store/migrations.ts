import { readdirSync, readFileSync } from 'node:fs'
import { packageFolder } from '../package-folder.ts'
import { StoreError } from './store-error.ts'

/** `auto` brings the tables up to date; `check` refuses those that are not, and leaves it to `ugs migrate`. */
export type MigrateMode = 'auto' | 'check'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** The numbered SQL files of a dialect (`migrations/<dialect>/0001-name.sql`), in order, without a gap. */
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

/** The name of a migration begins so where the releases before it work on its tables too. */
const additive = 'additive-'

/**
 * What a database lacks to which these migrations were applied.
 * @throws StoreError where a newer release has changed it so that this one cannot use it, or lacks anything and the mode is `check`
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  mode: MigrateMode,
): readonly Migration[] {
  checkKnown(
    migrations,
    applied.filter(({ name }) => !name.startsWith(additive)),
  )
  const version = versionOf(applied)
  if (version < migrations.length && mode === 'check') {
    throw new StoreError(
      `the database has schema version ${version}, and this release needs ${migrations.length}: run \`ugs migrate\`, or set UGS_MIGRATE=auto`,
    )
  }
  return migrations.slice(version)
}

/** For what has to know every column. @throws StoreError where a newer release has added anything */
export function checkKnown(migrations: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const version = versionOf(applied)
  if (version > migrations.length) {
    throw new StoreError(
      `the database has schema version ${version}, and this release knows up to ${migrations.length}: start the release that wrote it, or a newer one`,
    )
  }
}

function versionOf(applied: readonly AppliedMigration[]): number {
  return Math.max(0, ...applied.map(({ version }) => version))
}
