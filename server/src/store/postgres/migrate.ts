import {
  checkKnown,
  pendingMigrations,
  readMigrations,
  type AppliedMigration,
  type MigrateMode,
} from '../migrations.ts'
import { StoreError } from '../store-error.ts'
import { tables } from '../tables.ts'
import { remediationFor, isPermanent, PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'

/** Advisory lock of migrations: an arbitrary number. */
const advisoryLock = 0x55475300

const minimumVersion = 14
/** Comment of `schema_migration`, which marks the tables as those of this service. */
const mark = 'User Group Service'
const markOfFilling = `${mark}, being filled by ugs store copy`

/**
 * Applies pending migrations in one transaction under an advisory lock. If several processes start at once, one does the
 * work and the others find it done. An up-to-date database is only read.
 * @throws StoreError if the database belongs to a newer release or another program, or has pending migrations in mode `check`
 */
export async function migrate(primary: PrimaryPool, mode: MigrateMode): Promise<void> {
  const migrations = readMigrations('postgres')
  if (pendingMigrations(migrations, await readApplied(primary.query), mode).length === 0) return
  try {
    // Migrating a large table, or waiting for another process to do so, takes long.
    await primary.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock($1)', [advisoryLock])
      const applied = await readApplied(query)
      if (applied.length === 0) await claim(query)
      for (const { version, name, sql } of pendingMigrations(migrations, applied, mode)) {
        await query(sql)
        await query('INSERT INTO schema_migration (version, name, applied_at) VALUES ($1, $2, $3)', [
          version,
          name,
          Date.now(),
        ])
      }
    }, 'none')
  } catch (error) {
    if (!(error instanceof PostgresFailure)) throw error
    if (error.code === '42P07') {
      throw new StoreError(
        'the database has tables of another program with the same names; use a database, or a role with a search_path, of its own',
      )
    }
    if (error.code === '42501') {
      throw new StoreError(
        'the role may not create tables here; grant it CREATE on the schema, or run `ugs migrate` with a role that may',
      )
    }
    throw error
  }
}

/** @throws StoreError if a newer release has added anything to the database */
export async function refuseNewer(primary: PrimaryPool): Promise<void> {
  checkKnown(readMigrations('postgres'), await readApplied(primary.query))
}

/**
 * Checks that the server can be reached and fits the service.
 * @throws StoreError if it does not fit or cannot become reachable; PostgresFailure if it cannot be reached now
 */
export async function checkServer(primary: PrimaryPool): Promise<void> {
  const [server] = await primary
    .query<{ version: number; encoding: string }>(
      "SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding",
    )
    .catch((error: unknown) => {
      throw error instanceof PostgresFailure && isPermanent(error.code)
        ? new StoreError(`${remediationFor(error.code)} (${error.code})`)
        : error
    })
  if (server === undefined || server.version < minimumVersion) {
    throw new StoreError(`the server is PostgreSQL ${server?.version}; ${minimumVersion} or newer is needed`)
  }
  if (server.encoding !== 'UTF8') {
    throw new StoreError(
      'the encoding of the database must be UTF8; create it with ENCODING UTF8 TEMPLATE template0',
    )
  }
}

/**
 * Checks at startup that the role may use the tables.
 * @throws StoreError if it may not
 */
export async function checkRights(primary: PrimaryPool, rights: readonly string[]): Promise<void> {
  const lacking = await primary.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS owned (name)
     WHERE NOT (SELECT bool_and(has_table_privilege(name, privilege)) FROM unnest($2::text[]) AS wanted (privilege))`,
    [tables.map(({ name }) => name), rights],
  )
  if (lacking.length === 0) return
  const names = lacking.map(({ name }) => name).join(', ')
  throw new StoreError(`the role lacks rights; grant it ${rights.join(', ')} on ${names} (42501)`)
}

/** @throws StoreError if another program has a table of that name */
async function readApplied(query: Query): Promise<AppliedMigration[]> {
  const owner = await readMark(query)
  if (owner === undefined) return []
  if (owner !== mark && owner !== markOfFilling) {
    throw new StoreError('the database belongs to another program; use another database')
  }
  return query<AppliedMigration>('SELECT version, name FROM schema_migration')
}

/** Returns whether `ugs store copy` began to fill the tables and has not finished. */
export async function isBeingFilled(query: Query): Promise<boolean> {
  return (await readMark(query)) === markOfFilling
}

export async function setFilling(query: Query, isFilling: boolean): Promise<void> {
  await query(`COMMENT ON TABLE schema_migration IS '${isFilling ? markOfFilling : mark}'`)
}

/** Returns undefined if there is no such table. */
async function readMark(query: Query): Promise<string | null | undefined> {
  const [table] = await query<{ mark: string | null }>(
    "SELECT obj_description(oid, 'pg_class') AS mark FROM pg_class WHERE oid = to_regclass('schema_migration')",
  )
  return table?.mark
}

async function claim(query: Query): Promise<void> {
  await query(
    'CREATE TABLE schema_migration (version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)',
  )
  await setFilling(query, false)
}
