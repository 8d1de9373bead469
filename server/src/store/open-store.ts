import type { Store } from '../domain/store.ts'
import type { StoreExamination } from './doctor.ts'
import type { StoreLocation } from './location.ts'
import type { PostgresExaminationOptions } from './postgres/doctor/check.ts'
import type { PostgresOptions } from './postgres/postgres-store.ts'
import type { BackupProgress } from './sqlite/backup.ts'
import type { SqliteExaminationOptions } from './sqlite/doctor.ts'
import type { SqliteOptions } from './sqlite/sqlite-store.ts'
import { StoreError } from './store-error.ts'
import type { TableReader, TableWriter } from './tables.ts'

/** All times are in milliseconds. Each kind of store ignores the options of the other. */
export type StoreOptions = SqliteOptions & PostgresOptions

// Each driver is loaded only if it is used.
const sqlite = () => import('./sqlite/sqlite-store.ts')
const postgres = () => import('./postgres/postgres-store.ts')

/**
 * Opens the store and applies pending migrations, or checks that there are none.
 * @throws StoreError with the problem and the remedy
 */
export async function openStore(location: StoreLocation, options: StoreOptions): Promise<Store> {
  return location.kind === 'sqlite'
    ? (await sqlite()).openSqliteStore(location.path, options)
    : (await postgres()).openPostgresStore(location.server, options)
}

/** Copies a SQLite store with `copyDatabase`. @throws StoreError */
export async function copyStoreFile(
  from: string,
  to: string,
  report: (progress: BackupProgress) => void,
): Promise<number> {
  return (await import('./sqlite/backup.ts')).copyDatabase(from, to, report)
}

/** Returns the checks of `ugs doctor`. They change nothing, and report a store that cannot be opened. */
export async function examineStore(
  location: StoreLocation,
  options: SqliteExaminationOptions & PostgresExaminationOptions,
): Promise<StoreExamination> {
  return location.kind === 'sqlite'
    ? (await import('./sqlite/doctor.ts')).examineSqlite(location.path, options)
    : (await import('./postgres/doctor/doctor.ts')).examinePostgres(location.server, options)
}

/**
 * Makes all processes accept the current primary of PostgreSQL, although it may lack acknowledged changes.
 * @throws StoreError
 */
export async function acceptTimeline(location: StoreLocation, options: StoreOptions): Promise<void> {
  if (location.kind === 'sqlite')
    throw new StoreError('only a store on PostgreSQL has a timeline; set DATABASE_URL')
  await (await postgres()).acceptPostgresTimeline(location.server, options)
}

/**
 * Checks a damaged SQLite store that was repaired, and lets all processes change it again.
 * @returns false if it was not marked as damaged
 * @throws StoreError if it is still damaged
 */
export async function resumeStore(location: StoreLocation, options: StoreOptions): Promise<boolean> {
  if (location.kind !== 'sqlite')
    throw new StoreError('only a SQLite store stops changes when it is damaged; unset DATABASE_URL')
  return (await sqlite()).resumeSqlite(location.path, options)
}

/** @throws StoreError */
export async function openTablesToRead(location: StoreLocation, options: StoreOptions): Promise<TableReader> {
  return location.kind === 'sqlite'
    ? (await sqlite()).openSqliteToRead(location.path, options)
    : (await postgres()).openPostgresToRead(location.server, options)
}

/** @throws StoreError */
export async function openTablesToWrite(
  location: StoreLocation,
  options: StoreOptions,
): Promise<TableWriter> {
  if (location.kind === 'sqlite') throw new StoreError('a store is copied into PostgreSQL only: postgres://…')
  return (await postgres()).openPostgresToWrite(location.server, options)
}
