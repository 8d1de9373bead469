import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import type { MappingEntry } from '../../domain/data-source/data-source.ts'
import type { Environment } from '../../domain/environment.ts'
import type {
  ApiTokenUse,
  CountEntries,
  DeleteRegistered,
  DeleteUserGroup,
  EndGracePeriod,
  Expiry,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  Introspection,
  LimitApiToken,
  ListAuditEvents,
  ListDataSources,
  ListDeletedUserGroups,
  ListSharedDataSources,
  ListUserGroups,
  ListVersions,
  NewApiToken,
  NewConsoleSession,
  NewDataSource,
  NewSchema,
  NewWorkspace,
  PruneAuditEvents,
  RestoreUserGroup,
  RevokeApiToken,
  RotateApiToken,
  RotateUserGroupToken,
  SearchUserGroups,
  SecretKeyCheck,
  ChangeStamp,
  Store,
  SuspendUserGroup,
  UpdateUserGroup,
} from '../../domain/store.ts'
import type { UsageReport } from '../../domain/api-token/rate-limit.ts'
import type { ListEncryptedTokens, ReencryptedToken } from '../../domain/token/encrypted-token.ts'
import type { UserGroupKey } from '../../domain/user-group/user-group.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { pendingMigrations, readMigrations, type MigrateMode } from '../migrations.ts'
import { StoreError } from '../store-error.ts'
import type { TableReader } from '../tables.ts'
import { ApiTokens } from './api-tokens.ts'
import { AuditLog } from './audit-log.ts'
import { Checkpointer, commitPages } from './checkpointer.ts'
import { ConsoleSessions } from './console-sessions.ts'
import { DataSources } from './data-sources.ts'
import { GroupCommit } from './group-commit.ts'
import { LastIntrospections } from './last-introspections.ts'
import { checkOwner, migrate, refuseNewer } from './migrate.ts'
import { EncryptedTokens } from './encrypted-tokens.ts'
import { SecretKeyChecks } from './secret-key-checks.ts'
import { remediationFor, isBusy } from './sqlite-fault.ts'
import { refuseLostLog, StoreFiles } from './store-files.ts'
import { ChangeTracker } from './change-tracker.ts'
import { SqliteTableAccess } from './table-reader.ts'
import { UserGroupHistory } from './user-group-history.ts'
import { UserGroupSearch } from './user-group-search.ts'
import { UserGroups } from './user-groups.ts'
import { Workspaces } from './workspaces.ts'

export interface SqliteOptions {
  readonly migrate: MigrateMode
  readonly lockTimeoutMs: number
  readonly observer?: BatchObserver | undefined
}

/** @throws StoreError */
export function openSqliteStore(path: string, options: SqliteOptions): Store {
  const database = openDatabase(path, options)
  const guards = { files: new StoreFiles(database, path), checkpointer: new Checkpointer(database, path) }
  return new SqliteStore(database, guards, options)
}

/** @throws StoreError */
export function openSqliteToRead(path: string, options: SqliteOptions): TableReader {
  if (!existsSync(path)) throw new StoreError(`${path}: there is no such file`)
  const database = openDatabase(path, options)
  try {
    refuseNewer(database)
    return new SqliteTableAccess(database)
  } catch (error) {
    database.close()
    throw storeErrorOf(path, error)
  }
}

function openDatabase(path: string, options: SqliteOptions): Database {
  if (!existsSync(dirname(path))) {
    throw new StoreError(`${path}: the folder does not exist; make it, or name another file`)
  }
  let database: Database | undefined
  try {
    // Refused before there is a file.
    if (options.migrate === 'check' && !existsSync(path))
      pendingMigrations(readMigrations('sqlite'), [], 'check')
    refuseLostLog(path)
    database = new BetterSqlite3(path, { timeout: options.lockTimeoutMs })
    // Before anything is set: another program's database is left as it is.
    checkOwner(database)
    configure(database, options.lockTimeoutMs)
    migrate(database, options.migrate)
    refuseReadOnly(database, options.lockTimeoutMs)
    return database
  } catch (error) {
    database?.close()
    throw storeErrorOf(path, error)
  }
}

function configure(database: Database, lockTimeoutMs: number): void {
  // Readers, the `ugs` command among them, do not wait for the writer. SQLite answers what it did, and does not fail.
  const journalMode = beginLog(database, lockTimeoutMs)
  if (journalMode !== 'wal') {
    throw new StoreError('the file system does not allow a write-ahead log; use a local disk')
  }
  // An answered call survives a power cut: WAL's NORMAL would let the last commits go with it.
  database.pragma('synchronous = FULL')
  // Pages that many commits change are brought home once: the log is up to 16 MB long, by default 4 MB.
  database.pragma(`wal_autocheckpoint = ${commitPages}`)
  // In KiB. Four times as much, better-sqlite3's default, makes no view faster, since the system keeps the file in memory too, and
  // creations slower: SQLite looks through all pages that it keeps at each commit that split one.
  database.pragma('cache_size = -4000')
  database.pragma('foreign_keys = ON')
  // A damaged page is noticed when it is read, and not when what it says was believed.
  database.pragma('cell_size_check = ON')
}

/** How often a lock is asked for that SQLite does not wait for, in milliseconds. */
const lockRetryMs = 10

/** Where several processes open a new file at once, each is in the way of the others for a moment, and for this SQLite does not wait. */
function beginLog(database: Database, lockTimeoutMs: number): unknown {
  const lockDeadline = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      return database.pragma('journal_mode = WAL', { simple: true })
    } catch (error) {
      if (!isBusy(error) || performance.now() >= lockDeadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockRetryMs)
    }
  }
}

/** SQLite opens what it may only read too, and would fail at the first change. */
function refuseReadOnly(database: Database, lockTimeoutMs: number): void {
  database.pragma('busy_timeout = 0')
  try {
    // Beginning alone would not fail. What is set is rolled back.
    database.exec('BEGIN IMMEDIATE; PRAGMA user_version = 1; ROLLBACK')
  } catch (error) {
    // Whoever holds the lock is the proof that it can be written to.
    if (!isBusy(error)) throw error
  } finally {
    database.pragma(`busy_timeout = ${lockTimeoutMs}`)
  }
}

/** What is wrong with a file, and its cure. What is a defect is thrown. */
export function storeErrorOf(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return new StoreError(`${path}: ${error.message}`)
  if (!(error instanceof BetterSqlite3.SqliteError)) throw error
  return new StoreError(`${path}: ${remediationFor(error.code)} (${error.code})`)
}

/** Of many in one call, so many share a turn with what else arrives: the others wait for them. */
const groupsAtOnce = 128

/** The store in one file, for one machine. Each method is one operation of a turn's transaction. */
class SqliteStore implements Store {
  readonly #database: Database
  readonly #checkpointer: Checkpointer
  readonly #batch: GroupCommit
  readonly #changeTracker: ChangeTracker
  readonly #userGroups: UserGroups
  readonly #dataSources: DataSources
  readonly #history: UserGroupHistory
  readonly #search: UserGroupSearch
  readonly #lastIntrospections: LastIntrospections
  readonly #workspaces: Workspaces
  readonly #apiTokens: ApiTokens
  readonly #consoleSessions: ConsoleSessions
  readonly #secretKeyChecks: SecretKeyChecks
  readonly #encryptedTokens: EncryptedTokens
  readonly #audit: AuditLog

  constructor(
    database: Database,
    guards: { readonly files: StoreFiles; readonly checkpointer: Checkpointer },
    options: SqliteOptions,
  ) {
    this.#database = database
    this.#checkpointer = guards.checkpointer
    this.#changeTracker = new ChangeTracker(database)
    this.#batch = new GroupCommit(database, { ...guards, changeTracker: this.#changeTracker }, options)
    this.#audit = new AuditLog(database)
    this.#dataSources = new DataSources(database, this.#audit)
    this.#userGroups = new UserGroups(database, this.#changeTracker, this.#dataSources, this.#audit)
    this.#history = new UserGroupHistory(database, this.#dataSources, this.#audit)
    this.#search = new UserGroupSearch(database)
    this.#lastIntrospections = new LastIntrospections(database)
    this.#apiTokens = new ApiTokens(database, this.#audit)
    this.#workspaces = new Workspaces(database, this.#apiTokens, this.#audit)
    this.#consoleSessions = new ConsoleSessions(database, this.#audit)
    this.#secretKeyChecks = new SecretKeyChecks(database)
    this.#encryptedTokens = new EncryptedTokens(database)
  }

  getOrCreateUserGroup(command: GetOrCreateUserGroup) {
    return this.#batch.run(() => this.#userGroups.getOrCreate(command))
  }

  getOrCreateUserGroups(commands: readonly GetOrCreateUserGroup[]) {
    return this.#batch.runInTurns(async () => {
      const outcomes: GetOrCreateOutcome[] = []
      for (let start = 0; start < commands.length; start += groupsAtOnce) {
        const some = commands.slice(start, start + groupsAtOnce)
        outcomes.push(
          ...(await this.#batch.run(() => some.map((command) => this.#userGroups.getOrCreate(command)))),
        )
      }
      return outcomes
    })
  }

  updateUserGroup(command: UpdateUserGroup) {
    return this.#batch.run(() => this.#userGroups.update(command))
  }

  rotateUserGroupToken(command: RotateUserGroupToken) {
    return this.#batch.run(() => this.#userGroups.rotateToken(command))
  }

  findByToken(workspaceId: number, environment: Environment, tokenHash: Uint8Array, now: number) {
    return this.#batch.run(() => this.#userGroups.findByToken(workspaceId, environment, tokenHash, now))
  }

  isUnchanged(_workspaceId: number, _environment: Environment, teamId: number, stamp: ChangeStamp) {
    return this.#batch.run(() => this.#changeTracker.isUnchanged(teamId, stamp))
  }

  identifyToken(workspaceId: number, environment: Environment, tokenHash: Uint8Array) {
    return this.#batch.run(() => this.#userGroups.identifyToken(workspaceId, environment, tokenHash))
  }

  endGracePeriod(command: EndGracePeriod) {
    return this.#batch.run(() => this.#userGroups.endGracePeriod(command))
  }

  findUserGroup(key: UserGroupKey) {
    return this.#batch.run(() => this.#userGroups.find(key))
  }

  listUserGroups(query: ListUserGroups) {
    return this.#batch.run(() => this.#userGroups.list(query))
  }

  findUserGroupById(workspaceId: number, environment: Environment, teamId: number) {
    return this.#batch.run(() => this.#userGroups.findById(workspaceId, environment, teamId))
  }

  searchUserGroups(query: SearchUserGroups) {
    return this.#batch.run(() => this.#search.search(query))
  }

  suspendUserGroup(command: SuspendUserGroup) {
    return this.#batch.run(() => this.#userGroups.suspend(command))
  }

  deleteUserGroup(command: DeleteUserGroup) {
    return this.#batch.run(() => this.#history.delete(command))
  }

  restoreUserGroup(command: RestoreUserGroup) {
    return this.#batch.run(() => this.#history.restore(command))
  }

  listDeletedUserGroups(query: ListDeletedUserGroups) {
    return this.#batch.run(() => this.#history.listDeleted(query))
  }

  listVersions(query: ListVersions) {
    return this.#batch.run(() => this.#history.listVersions(query))
  }

  recordIntrospections(introspections: readonly Introspection[]) {
    return this.#batch.run(() => this.#lastIntrospections.record(introspections))
  }

  findLastIntrospection(workspaceId: number, teamId: number) {
    return this.#batch.run(() => this.#lastIntrospections.find(workspaceId, teamId))
  }

  countEntries(query: CountEntries) {
    return this.#batch.run(() => this.#search.countEntries(query))
  }

  listSharedDataSources(query: ListSharedDataSources) {
    return this.#batch.run(() => this.#dataSources.listShared(query))
  }

  resolveEntries(workspaceId: number, environment: Environment, entries: readonly MappingEntry[]) {
    return this.#batch.run(() => this.#dataSources.resolveEntries({ workspaceId, environment }, entries))
  }

  deleteExpired({ now, deletedBefore, usedBefore }: Expiry) {
    return this.#batch.runInTurns(async () => {
      let total = await this.#batch.run(
        () =>
          this.#userGroups.forgetExpiredIdempotencyKeys(now) + this.#consoleSessions.deleteUnused(usedBefore),
      )
      for (let forgotten = -1; forgotten !== 0; total += forgotten)
        forgotten = await this.#batch.run(() => this.#history.deleteExpired(deletedBefore))
      return total
    })
  }

  createSchema(schema: NewSchema) {
    return this.#batch.run(() => this.#dataSources.createSchema(schema))
  }

  listSchemas(workspaceId: number, environment: Environment) {
    return this.#batch.run(() => this.#dataSources.listSchemas(workspaceId, environment))
  }

  deleteSchema(command: DeleteRegistered) {
    return this.#batch.run(() => this.#dataSources.deleteSchema(command))
  }

  createDataSource(dataSource: NewDataSource) {
    return this.#batch.run(() => this.#dataSources.create(dataSource))
  }

  listDataSources(query: ListDataSources) {
    return this.#batch.run(() => this.#dataSources.list(query))
  }

  deleteDataSource(command: DeleteRegistered) {
    return this.#batch.run(() => this.#dataSources.delete(command))
  }

  createWorkspace(workspace: NewWorkspace) {
    return this.#batch.run(() => this.#workspaces.create(workspace))
  }

  listWorkspaces() {
    return this.#batch.run(() => this.#workspaces.list())
  }

  createApiToken(token: NewApiToken) {
    return this.#batch.run(() => this.#apiTokens.create(token))
  }

  createFirstApiTokens(tokens: readonly NewApiToken[]) {
    return this.#batch.run(() => this.#apiTokens.createFirst(tokens))
  }

  findApiToken(tokenHash: Uint8Array) {
    return this.#batch.run(() => this.#apiTokens.find(tokenHash))
  }

  listApiTokens() {
    return this.#batch.run(() => this.#apiTokens.list())
  }

  revokeApiToken(command: RevokeApiToken) {
    return this.#batch.run(() => this.#apiTokens.revoke(command))
  }

  rotateApiToken(command: RotateApiToken) {
    return this.#batch.run(() => this.#apiTokens.rotate(command))
  }

  limitApiToken(command: LimitApiToken) {
    return this.#batch.run(() => this.#apiTokens.limit(command))
  }

  reportUsage(usageReports: readonly UsageReport[]) {
    return this.#batch.run(() => this.#apiTokens.reportUsage(usageReports))
  }

  recordApiTokenUses(uses: readonly ApiTokenUse[]) {
    return this.#batch.run(() => this.#apiTokens.recordUses(uses))
  }

  createConsoleSession(session: NewConsoleSession) {
    return this.#batch.run(() => this.#consoleSessions.create(session))
  }

  findConsoleSession(hash: Uint8Array) {
    return this.#batch.run(() => this.#consoleSessions.find(hash))
  }

  touchConsoleSession(hash: Uint8Array, now: number) {
    return this.#batch.run(() => this.#consoleSessions.touch(hash, now))
  }

  deleteConsoleSession(hash: Uint8Array) {
    return this.#batch.run(() => this.#consoleSessions.delete(hash))
  }

  listSecretKeyChecks() {
    return this.#batch.run(() => this.#secretKeyChecks.list())
  }

  addSecretKeyCheck(check: SecretKeyCheck) {
    return this.#batch.run(() => this.#secretKeyChecks.add(check))
  }

  deleteSecretKeyCheck(keyId: string) {
    return this.#batch.run(() => this.#secretKeyChecks.delete(keyId))
  }

  retireSecretKey(keyId: string) {
    return this.#batch.run(() => this.#secretKeyChecks.retire(keyId))
  }

  listRetiredSecretKeys() {
    return this.#batch.run(() => this.#secretKeyChecks.listRetired())
  }

  listEncryptedTokens(query: ListEncryptedTokens) {
    return this.#batch.run(() => this.#encryptedTokens.list(query))
  }

  replaceEncryptedTokens(tokens: readonly ReencryptedToken[]) {
    return this.#batch.run(() => this.#encryptedTokens.replace(tokens))
  }

  listAuditEvents(query: ListAuditEvents) {
    return this.#batch.run(() => this.#audit.list(query))
  }

  pruneAuditEvents(command: PruneAuditEvents) {
    return this.#batch.runInTurns(async () => {
      for (let total = 0; ;) {
        const { pruned, isLast } = await this.#batch.run(() => this.#audit.prune(command, total === 0))
        total += pruned
        if (isLast) return total
      }
    })
  }

  ping() {
    return this.#batch.run(() => this.#workspaces.probe())
  }

  async close() {
    await this.#batch.finish()
    await this.#checkpointer.close()
    this.#database.close()
  }
}
