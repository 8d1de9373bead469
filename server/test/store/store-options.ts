import type { StoreOptions } from '../../src/store/open-store.ts'

/** Store options for tests. */
export const defaults: StoreOptions = {
  migrate: 'auto',
  distribute: 'new',
  lockTimeoutMs: 2000,
  poolSize: 10,
  connectTimeoutMs: 2000,
  statementTimeoutMs: 5000,
  idleTimeoutMs: 30_000,
  deadlineMs: 5000,
}
