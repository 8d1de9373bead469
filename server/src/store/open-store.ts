import type { Store } from '../domain/store.ts'
import type { StoreLocation } from './location.ts'
import type { PostgresOptions } from './postgres/postgres-store.ts'
import type { BackupProgress } from './sqlite/backup.ts'
import type { SqliteOptions } from './sqlite/sqlite-store.ts'
import { StoreError } from './store-error.ts'
import type { TableReader, TableWriter } from './tables.ts'

/** All times are in milliseconds. What one kind of store has no use for, it does not read. */
export type StoreOptions = SqliteOptions & PostgresOptions

// Each kind is loaded only where it is used: nobody waits for the driver of the other.
const sqlite = () => import('./sqlite/sqlite-store.ts')
const postgres = () => import('./postgres/postgres-store.ts')

/**
 * Opens the store and brings its tables up to date, or checks that they are.
 * @throws StoreError that says what is wrong and how to cure it.
 */
export async function openStore(location: StoreLocation, options: StoreOptions): Promise<Store> {
  return location.kind === 'sqlite'
    ? (await sqlite()).openSqliteStore(location.path, options)
    : (await postgres()).openPostgresStore(location.server, options)
}

/** As `copyDatabase` does. @throws StoreError */
export async function copyStoreFile(
  from: string,
  to: string,
  report: (progress: BackupProgress) => void,
): Promise<number> {
  return (await import('./sqlite/backup.ts')).copyDatabase(from, to, report)
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
