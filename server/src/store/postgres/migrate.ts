import { setTimeout as sleep } from 'node:timers/promises'
import {
  checkKnown,
  pendingMigrations,
  readMigrations,
  type AppliedMigration,
  type DistributeMode,
  type MigrateMode,
  type Migration,
} from '../migrations.ts'
import { StoreError } from '../store-error.ts'
import { tables, uncopiedTables } from '../tables.ts'
import { withBriefLocks } from './brief-locks.ts'
import { canDistribute, distributeLive, distributeNew, findUndistributed } from './citus/citus.ts'
import { remediationFor, isPermanent, PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'

/** Advisory lock of migrations: an arbitrary number. */
const advisoryLock = 0x55475300

const minimumVersion = 14
/** Comment of `schema_migration`, which marks the tables as those of this service. */
const mark = 'User Group Service'
const markOfFilling = `${mark}, being filled by ugs store copy`

export interface MigrationOptions {
  readonly migrate: MigrateMode
  readonly distribute: DistributeMode
  /** True to refuse a database without a store instead of creating one. */
  readonly mustExist?: boolean | undefined
  /** Default is the migrations of this release. */
  readonly migrations?: readonly Migration[] | undefined
  /** Called each time that a step gives up waiting for the lock of a table, before it retries. */
  readonly onLocked?: (() => void) | undefined
  /** Called if the database is a Citus cluster and tables are left that only the mode `required` distributes. */
  readonly onUndistributed?: (() => void) | undefined
}

/** Interval of attempts to take the advisory lock, in milliseconds. */
const lockIntervalMs = 100

/**
 * Applies pending migrations under an advisory lock. If several processes start at once, one does the work and the others find it
 * done. An up-to-date database is only read. A new store gets all migrations in one transaction. In an existing store each migration
 * is a transaction, so that services of the previous release can go on. Needs two connections.
 * @throws StoreError if the database belongs to a newer release or another program, has pending migrations in mode `check`, or must have a
 *   store and has none
 */
export async function migrate(primary: PrimaryPool, options: MigrationOptions): Promise<void> {
  const { migrate: mode, distribute: distributeMode, migrations = readMigrations('postgres') } = options
  const applied = await readApplied(primary.query)
  if (options.mustExist === true && applied.length === 0) {
    throw new StoreError(
      'there is no store in this database; check DATABASE_URL, or run `ugs serve` or `ugs migrate` to create one',
    )
  }
  const isUpToDate = pendingMigrations(migrations, applied, mode).length === 0
  try {
    if (!isUpToDate || distributeMode === 'required')
      while (!(await migrateLocked(primary, migrations, options))) await sleep(lockIntervalMs)
    if (options.onUndistributed !== undefined && (await canDistribute(primary.query, false))) {
      if ((await findUndistributed(primary.query)).length > 0) options.onUndistributed()
    }
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

/**
 * Migrates if no other process does, and returns whether it did. Never waits for the advisory lock: a transaction that waits holds a
 * snapshot, and the concurrent creation of an index waits until all older snapshots end.
 */
function migrateLocked(
  primary: PrimaryPool,
  migrations: readonly Migration[],
  { migrate: mode, distribute: distributeMode, onLocked }: MigrationOptions,
): Promise<boolean> {
  // Migrating a large table takes long.
  return primary.transaction(async (query) => {
    const [lock] = await query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS taken`,
    )
    if (!lock?.taken) return false
    // A statement with values would keep its snapshot until the next one, and would block the creation of an index.
    const applied = await readApplied(query)
    const pending = pendingMigrations(migrations, applied, mode)
    const isNew = applied.length === 0
    if (isNew) {
      await claim(query)
      for (const migration of pending) await apply(query, migration)
    } else {
      for (const migration of pending)
        await withBriefLocks(primary, (step) => applyLater(step, migration), onLocked)
    }
    const mustDistribute = distributeMode === 'required'
    if (distributeMode === 'never' || (!isNew && !mustDistribute)) return true
    if (!(await canDistribute(query, mustDistribute))) return true
    if (isNew) await distributeNew(query)
    else await distributeLive(primary, onLocked)
    return true
  }, 'none')
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
    [[...tables.map(({ name }) => name), ...uncopiedTables], rights],
  )
  if (lacking.length === 0) return checkSequence(primary, rights)
  const names = lacking.map(({ name }) => name).join(', ')
  throw new StoreError(`the role lacks rights; grant it ${rights.join(', ')} on ${names} (42501)`)
}

/** @throws StoreError if the role may insert user groups, but not draw their ids */
async function checkSequence(primary: PrimaryPool, rights: readonly string[]): Promise<void> {
  if (!rights.includes('INSERT')) return
  const [sequence] = await primary.query<{ allowed: boolean }>(
    "SELECT has_sequence_privilege('user_group_team_id_seq', 'USAGE') AS allowed",
  )
  if (sequence?.allowed) return
  throw new StoreError('the role lacks rights; grant it USAGE on SEQUENCE user_group_team_id_seq (42501)')
}

/** @throws StoreError if another program has a table of that name */
export async function readApplied(query: Query): Promise<AppliedMigration[]> {
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

async function apply(query: Query, { version, name, sql }: Migration): Promise<void> {
  await query(sql)
  await query('INSERT INTO schema_migration (version, name, applied_at) VALUES ($1, $2, $3)', [
    version,
    name,
    Date.now(),
  ])
}

/** Applies a migration to an existing store. Roles get the same permissions on a new table as on `user_group`. */
async function applyLater(query: Query, migration: Migration): Promise<void> {
  const existing = await namesOfTables(query)
  await apply(query, migration)
  const added = (await namesOfTables(query)).filter((name) => !existing.includes(name))
  if (added.length === 0) return
  const grants = await query<{ privilege: string; role: string }>(
    `SELECT privilege_type AS privilege, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
     FROM pg_class CROSS JOIN LATERAL aclexplode(relacl)
     WHERE oid = 'user_group'::regclass AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') AND grantee <> relowner`,
  )
  for (const { privilege, role } of grants)
    await query(`GRANT ${privilege} ON ${added.join(', ')} TO ${role}`)
}

async function namesOfTables(query: Query): Promise<string[]> {
  const tables = await query<{ name: string }>(
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)",
  )
  return tables.map(({ name }) => name)
}

async function claim(query: Query): Promise<void> {
  await query(
    'CREATE TABLE schema_migration (version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)',
  )
  await setFilling(query, false)
}
