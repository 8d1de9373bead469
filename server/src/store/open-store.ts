import type { Store } from '../domain/store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

export interface StoreLocation {
  readonly kind: 'sqlite'
  readonly path: string
}

export interface StoreOptions {
  /** How long an operation waits for another process's lock, in milliseconds. */
  readonly lockTimeoutMs: number
}

/**
 * Opens the store and brings its tables up to date.
 * @throws StoreError that says what is wrong and how to cure it.
 */
export function openStore(location: StoreLocation, options: StoreOptions): Store {
  return openSqliteStore(location.path, options)
}
