import type { StoreOptions } from '../../src/store/open-store.ts'

/** Store options for tests. No test on a busy machine should reach these deadlines. */
export const defaults: StoreOptions = {
  migrate: 'auto',
  distribute: 'new',
  lockTimeoutMs: 20_000,
  poolSize: 10,
  connectTimeoutMs: 2000,
  statementTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  deadlineMs: 30_000,
}
