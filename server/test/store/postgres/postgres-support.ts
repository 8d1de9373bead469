import assert from 'node:assert/strict'
import { after } from 'node:test'
import { Client } from 'pg'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type {
  GetOrCreateUserGroup,
  RotateUserGroupToken,
} from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import { Fault } from '../../../src/domain/fault.ts'
import type { Sealed } from '../../../src/domain/secret-key/keyring.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { openStore, type StoreOptions } from '../../../src/store/open-store.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { DatabaseProxy, type ProxyOptions } from '../../support/database-proxy.ts'
import { migratedDatabase } from '../../support/database.ts'
import { lifo, type Scope } from '../../support/scope.ts'
import { openSession } from '../../support/session.ts'
import { deletion, freshKey, mint, actor, referenceOf } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'
import { userGroupOf } from '../contract/created-user-group.ts'

/** Timeouts in milliseconds: short enough to wait for in a test, long enough for a slow machine. */
export const brief = { deadlineMs: 1000 } as const
export const briefToTheServer = { connectTimeoutMs: 1000, statementTimeoutMs: 500 } as const

/** Patterns that identify the statements of the store. */
export const statements = {
  find: /^SELECT .* AS wanted \(bucket, provided_id, position\)/s,
  findByToken: /^SELECT .* AS wanted \(bucket, team_id, token_hash, position\)/s,
  findApiToken: /^SELECT .* AS wanted \(token_hash\) .*api_token/s,
  createUserGroup: /^SELECT create_user_groups/,
  update: /^SELECT change_user_groups/,
  rotate: /^SELECT replace_user_group_tokens/,
  suspend: /^SELECT change_user_groups/,
  deleteUserGroup: /^SELECT delete_user_group/,
  restoreUserGroup: /^SELECT restore_user_group/,
  createWorkspace: /^INSERT INTO workspace/,
  createApiToken: /^INSERT INTO api_token/,
  lockApiToken: /^SELECT \* FROM api_token .* FOR NO KEY UPDATE/,
  lockApiTokens: /^SELECT 1 FROM api_token .* FOR NO KEY UPDATE/,
  recordApiTokenUses: /^UPDATE api_token SET last_used_at/,
  limitApiToken: /^UPDATE api_token SET calls_per_second/,
  revokeApiToken: /^UPDATE api_token SET revoked_at/,
  addSecretKeyCheck: /^INSERT INTO secret_key_check/,
  createConsoleSession: /^INSERT INTO console_session/,
  touchConsoleSession: /^UPDATE console_session/,
  deleteConsoleSession: /^DELETE FROM console_session WHERE session_hash/,
  lockWebhooks: /^SELECT 1 FROM webhook_leader FOR UPDATE/,
  lockMigrations: /^SELECT pg_try_advisory_xact_lock/,
  commit: /^COMMIT/,
} as const

/** Returns a scope that cleans up after all tests of a file, because the hooks of a suite end earlier. */
export function suiteScope(): Scope {
  const cleanups: (() => void | Promise<void>)[] = []
  after(async () => {
    for (const done of cleanups) await done()
  })
  return { after: (done) => void cleanups.push(done) }
}

/** Returns the name of a database in messages for operators. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}

/** Opens a store on this database and closes it after the test. */
export async function openPostgres(t: Scope, url: string, over: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore(parseDatabaseUrl(url), { ...defaults, ...over })
  lifo(t).after(() => store.close())
  return store
}

export interface Proxied {
  readonly store: Store
  readonly proxy: DatabaseProxy
  /** URL of the same database without the proxy. */
  readonly url: string
}

/** Opens a store through a proxy, on a fresh database unless one is given. */
export async function openProxied(
  t: Scope,
  over: Partial<StoreOptions> = {},
  options: ProxyOptions = {},
  databaseUrl?: string,
): Promise<Proxied> {
  const url = databaseUrl ?? (await migratedDatabase(t))
  const proxy = await DatabaseProxy.start(t, url, options)
  return { store: await openPostgres(t, proxy.url, over), proxy, url }
}

/** Forwards this number of matching statements, one after the other. */
export async function caughtInTurn(proxy: DatabaseProxy, pattern: RegExp, count: number): Promise<void> {
  for (let i = 0; i < count; i++) (await proxy.next(pattern)).pass()
}

export function creation(over: Partial<GetOrCreateUserGroup> = {}): GetOrCreateUserGroup {
  return {
    key: freshKey(),
    change: { name: 'A' },
    mayWrite: true,
    issueToken: mint,
    ...actor,
    now: 1000,
    ...over,
  }
}

export async function created(store: Store, over: Partial<GetOrCreateUserGroup> = {}): Promise<UserGroup> {
  const result = await store.userGroups.getOrCreate(creation(over))
  return userGroupOf(result)
}

/** Creates this number of user groups, in the order of their team ids. */
export async function createdInTurn(store: Store, count: number): Promise<UserGroup[]> {
  const groups: UserGroup[] = []
  while (groups.length < count) groups.push(await created(store))
  return groups
}

export function rotation(token: Sealed, over: Partial<RotateUserGroupToken> = {}): RotateUserGroupToken {
  return {
    ...actor,
    workspaceId: 1,
    environment: 'Customer',
    target: { token: referenceOf(token) },
    oldTokenValidUntil: 2000,
    issueToken: mint,
    now: 2000,
    ...over,
  }
}

/** Returns the only value of the only row of a query. */
export async function valueOf(session: Client, query: string, values: unknown[] = []): Promise<unknown> {
  const { rows } = await session.query<unknown[]>({ text: query, values, rowMode: 'array' })
  return rows[0]?.[0]
}

/** SQL that ends all sessions of the database except this one. */
export const terminateOthers = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                         WHERE datname = current_database() AND pid <> pg_backend_pid()`

/** Changes a setting of a database for sessions opened from now on. */
export async function setForDatabase(t: Scope, url: string, setting: string): Promise<void> {
  const session = await openSession(t, url)
  await session.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${setting}`)
}

/** Returns the number of rows of a table. */
export async function rowsOf(url: string, table: string): Promise<number> {
  const session = new Client(url)
  await session.connect()
  try {
    return (await valueOf(session, `SELECT count(*)::int FROM ${table}`)) as number
  } finally {
    await session.end()
  }
}

/** Resolves when this number of sessions of the database wait for a lock. */
export async function waitingForLocks(
  session: Client,
  { count = 1, longerThanMs = 0 }: { count?: number; longerThanMs?: number } = {},
): Promise<void> {
  const query = `SELECT count(*)::int FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock'
                   AND clock_timestamp() - query_start >= $1 * interval '1 ms'`
  while ((await valueOf(session, query, [longerThanMs])) !== count) {
    // Within a transaction, PostgreSQL would return the first snapshot again.
    await session.query('SELECT pg_sleep(0.01), pg_stat_clear_snapshot()')
  }
}

const messages = {
  plain: 'The store is unavailable',
  inDoubt:
    'The store failed during this request, which may have taken effect or may still do so. GET the user group before you retry',
}

/** Asserts that an operation fails with a `Fault` without text of the driver or server. */
export async function assertUnavailable(
  result: Promise<unknown> | undefined,
  expected: { reason?: string; isAmbiguous?: boolean } = {},
  title?: string,
): Promise<void> {
  await assert.rejects(result ?? Promise.resolve(), (error) => {
    assert.ok(error instanceof Fault, `${title}: ${String(error)}`)
    const { code, message, reason } = error
    assert.equal(code, 'unavailable', title)
    assert.match(reason ?? '', /^[A-Z0-9_]+$/, title)
    if (expected.reason !== undefined) assert.equal(reason, expected.reason, title)
    const isAmbiguous = message === messages.inDoubt
    assert.equal(message, isAmbiguous ? messages.inDoubt : messages.plain, title)
    if (expected.isAmbiguous !== undefined) assert.equal(isAmbiguous, expected.isAmbiguous, title)
    return true
  })
}

/** Returns the duration of `work` in milliseconds. */
export async function takes(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Asserts that a store cannot be opened, with an error that names the database and then matches. */
export async function assertPlaceRefused(
  opening: Promise<unknown>,
  url: string,
  expected: string | RegExp | ((message: string) => void),
): Promise<void> {
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof StoreError, String(error))
    const place = `${placeOf(url)}: `
    assert.ok(error.message.startsWith(place), error.message)
    const message = error.message.slice(place.length)
    if (typeof expected === 'string') assert.equal(message, expected)
    else if (typeof expected === 'function') expected(message)
    else assert.match(message, expected)
    return true
  })
}

/** Runs each kind of statement on user groups, and returns the user group as it is afterwards. */
export async function useAll(store: Store, group: UserGroup): Promise<UserGroup> {
  const { teamId } = group
  const { userGroups } = store
  const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
  const key = { ...tenantScope, providedId: group.providedId }
  assert.equal((await userGroups.getOrCreate(creation({ key, change: {} }))).outcome, 'unchanged')
  assert.equal((await userGroups.getOrCreate(creation({ key: freshKey() }))).outcome, 'created')
  const owner = await userGroups.findByToken(1, 'Customer', referenceOf(group.token), 1)
  assert.equal(owner?.userGroup.teamId, teamId)
  const name = `${group.name}.`
  assert.equal((await userGroups.update({ key, change: { name }, ...actor, now: 2000 })).outcome, 'updated')
  const rotated = await userGroups.rotate(rotation(group.token))
  assert.ok(rotated.outcome === 'rotated')
  await store.introspections.record([{ workspaceId: 1, ...referenceOf(group.token), introspectedAt: 60_000 }])
  assert.equal(await userGroups.delete(deletion(group)), 'deleted')
  const restored = await userGroups.restore({ ...actor, ...tenantScope, teamId, deletedAfter: 0, now: 9000 })
  assert.equal(restored.outcome, 'restored')
  return { ...group, name, token: rotated.userGroup.token }
}
