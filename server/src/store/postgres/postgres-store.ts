import type { MappingEntry } from '../../domain/data-source/data-source.ts'
import type { Environment } from '../../domain/environment.ts'
import { Fault } from '../../domain/fault.ts'
import type {
  ApiTokenUse,
  CountEntries,
  DeleteRegistered,
  DeleteUserGroup,
  EndGracePeriod,
  Expiry,
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
import type { PostgresHost, PostgresServer } from '../location.ts'
import type { MigrateMode } from '../migrations.ts'
import { StoreError } from '../store-error.ts'
import type { TableReader, TableWriter } from '../tables.ts'
import { ApiTokens } from './api-tokens.ts'
import { AuditLog } from './audit-log.ts'
import { ConsoleSessions } from './console-sessions.ts'
import { DataSources } from './data-sources.ts'
import { LastIntrospections } from './last-introspections.ts'
import { checkRights, checkServer, isBeingFilled, migrate, refuseNewer } from './migrate.ts'
import { remediationFor, PostgresFailure } from './postgres-fault.ts'
import { PrimaryPool, type PoolState, type PrimaryPoolOptions } from './primary-pool.ts'
import { Retry } from './retry.ts'
import { EncryptedTokens } from './encrypted-tokens.ts'
import { SecretKeyChecks } from './secret-key-checks.ts'
import { PostgresTableAccess } from './table-writer.ts'
import { UserGroupHistory } from './user-group-history.ts'
import { UserGroupSearch } from './user-group-search.ts'
import { UserGroupStatements } from './user-group-statements.ts'
import { UserGroups } from './user-groups.ts'
import { Workspaces } from './workspaces.ts'

export interface PostgresOptions extends PrimaryPoolOptions {
  readonly migrate: MigrateMode
  /** For how long, in milliseconds, an operation is repeated before it fails. */
  readonly deadlineMs: number
  readonly observer?: BatchObserver | undefined
  /** Is given, once, what tells of the connections. */
  readonly watchPool?: ((read: () => PoolState) => void) | undefined
}

/** For how long `ping` waits: a load balancer wants to know now. */
const pingDeadlineMs = 1000

/** @throws StoreError */
export async function openPostgresStore(server: PostgresServer, options: PostgresOptions): Promise<Store> {
  const retry = new Retry(options.deadlineMs)
  return openWith(server, options, retry, async (primary) => {
    await refuseUnfinished(primary)
    await checkRights(primary, ['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
    options.watchPool?.(() => primary.poolState)
    return new PostgresStore(primary, retry, options.observer)
  })
}

/** @throws StoreError */
export function openPostgresToRead(server: PostgresServer, options: PostgresOptions): Promise<TableReader> {
  return openWith(server, options, new Retry(options.deadlineMs), async (primary) => {
    await refuseNewer(primary)
    await refuseUnfinished(primary)
    await checkRights(primary, ['SELECT'])
    return new PostgresTableAccess(primary)
  })
}

/** @throws StoreError */
export function openPostgresToWrite(server: PostgresServer, options: PostgresOptions): Promise<TableWriter> {
  return openWith(server, options, new Retry(options.deadlineMs), async (primary) => {
    await refuseNewer(primary)
    return new PostgresTableAccess(primary)
  })
}

async function refuseUnfinished(primary: PrimaryPool): Promise<void> {
  if (await isBeingFilled(primary.query)) {
    throw new StoreError(
      'a copy into this database was not finished; run `ugs store copy` again to finish it',
    )
  }
}

async function openWith<T>(
  server: PostgresServer,
  options: PostgresOptions,
  retry: Retry,
  make: (primary: PrimaryPool) => Promise<T>,
): Promise<T> {
  const primary = new PrimaryPool(server, options)
  try {
    await retry.run(() => checkServer(primary))
    await migrate(primary, options.migrate)
    return await make(primary)
  } catch (error) {
    await primary.close()
    throw storeErrorOf(server, error)
  }
}

function storeErrorOf({ hosts, database }: PostgresServer, error: unknown): unknown {
  const place = `postgres://${hosts.map(authorityOf).join()}/${database}`
  if (error instanceof StoreError) return new StoreError(`${place}: ${error.message}`)
  const code =
    error instanceof PostgresFailure
      ? error.code
      : error instanceof Fault
        ? (error.reason ?? error.code)
        : undefined
  return code === undefined ? error : new StoreError(`${place}: ${remediationFor(code)} (${code})`)
}

function authorityOf({ host, port }: PostgresHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The store in a PostgreSQL database, for any number of processes. */
class PostgresStore implements Store {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #userGroups: UserGroups
  readonly #history: UserGroupHistory
  readonly #search: UserGroupSearch
  readonly #lastIntrospections: LastIntrospections
  readonly #dataSources: DataSources
  readonly #workspaces: Workspaces
  readonly #apiTokens: ApiTokens
  readonly #consoleSessions: ConsoleSessions
  readonly #secretKeyChecks: SecretKeyChecks
  readonly #encryptedTokens: EncryptedTokens
  readonly #audit: AuditLog

  constructor(primary: PrimaryPool, retry: Retry, observer: BatchObserver | undefined) {
    this.#primary = primary
    this.#retry = retry
    const statements = new UserGroupStatements(primary, observer)
    this.#userGroups = new UserGroups(primary, retry, statements)
    this.#history = new UserGroupHistory(primary, retry, statements)
    this.#search = new UserGroupSearch(primary, retry)
    this.#lastIntrospections = new LastIntrospections(primary, retry)
    this.#dataSources = new DataSources(primary, retry)
    this.#workspaces = new Workspaces(primary, retry)
    this.#apiTokens = new ApiTokens(primary, retry, observer)
    this.#consoleSessions = new ConsoleSessions(primary, retry)
    this.#secretKeyChecks = new SecretKeyChecks(primary, retry)
    this.#encryptedTokens = new EncryptedTokens(primary, retry)
    this.#audit = new AuditLog(primary, retry)
  }

  getOrCreateUserGroup(command: GetOrCreateUserGroup) {
    return this.#userGroups.getOrCreate(command)
  }

  getOrCreateUserGroups(commands: readonly GetOrCreateUserGroup[]) {
    return Promise.all(commands.map((command) => this.#userGroups.getOrCreate(command)))
  }

  updateUserGroup(command: UpdateUserGroup) {
    return this.#userGroups.update(command)
  }

  rotateUserGroupToken(command: RotateUserGroupToken) {
    return this.#userGroups.rotateToken(command)
  }

  findByToken(workspaceId: number, environment: Environment, tokenHash: Uint8Array, now: number) {
    return this.#userGroups.findByToken({ workspaceId, environment }, tokenHash, now)
  }

  isUnchanged(workspaceId: number, environment: Environment, teamId: number, stamp: ChangeStamp) {
    return this.#userGroups.isUnchanged({ workspaceId, environment, teamId, stamp })
  }

  identifyToken(workspaceId: number, environment: Environment, tokenHash: Uint8Array) {
    return this.#userGroups.identifyToken({ workspaceId, environment }, tokenHash)
  }

  endGracePeriod(command: EndGracePeriod) {
    return this.#userGroups.endGracePeriod(command)
  }

  findUserGroup(key: UserGroupKey) {
    return this.#userGroups.find(key)
  }

  listUserGroups(query: ListUserGroups) {
    return this.#userGroups.list(query)
  }

  findUserGroupById(workspaceId: number, environment: Environment, teamId: number) {
    return this.#userGroups.findById(workspaceId, environment, teamId)
  }

  searchUserGroups(query: SearchUserGroups) {
    return this.#search.search(query)
  }

  suspendUserGroup(command: SuspendUserGroup) {
    return this.#userGroups.suspend(command)
  }

  deleteUserGroup(command: DeleteUserGroup) {
    return this.#history.delete(command)
  }

  restoreUserGroup(command: RestoreUserGroup) {
    return this.#history.restore(command)
  }

  listDeletedUserGroups(query: ListDeletedUserGroups) {
    return this.#history.listDeleted(query)
  }

  listVersions(query: ListVersions) {
    return this.#history.listVersions(query)
  }

  recordIntrospections(introspections: readonly Introspection[]) {
    return this.#lastIntrospections.record(introspections)
  }

  findLastIntrospection(workspaceId: number, teamId: number) {
    return this.#lastIntrospections.find(workspaceId, teamId)
  }

  countEntries(query: CountEntries) {
    return this.#search.countEntries(query)
  }

  listSharedDataSources(query: ListSharedDataSources) {
    return this.#dataSources.listShared(query)
  }

  resolveEntries(workspaceId: number, environment: Environment, entries: readonly MappingEntry[]) {
    return this.#userGroups.resolveEntries({ workspaceId, environment }, entries)
  }

  async deleteExpired({ now, deletedBefore, usedBefore }: Expiry) {
    return (
      (await this.#userGroups.forgetExpiredIdempotencyKeys(now)) +
      (await this.#consoleSessions.deleteUnused(usedBefore)) +
      (await this.#history.deleteExpired(deletedBefore))
    )
  }

  createSchema(schema: NewSchema) {
    return this.#dataSources.createSchema(schema)
  }

  listSchemas(workspaceId: number, environment: Environment) {
    return this.#dataSources.listSchemas(workspaceId, environment)
  }

  deleteSchema(command: DeleteRegistered) {
    return this.#dataSources.deleteSchema(command)
  }

  createDataSource(dataSource: NewDataSource) {
    return this.#dataSources.create(dataSource)
  }

  listDataSources(query: ListDataSources) {
    return this.#dataSources.list(query)
  }

  deleteDataSource(command: DeleteRegistered) {
    return this.#dataSources.delete(command)
  }

  createWorkspace(workspace: NewWorkspace) {
    return this.#workspaces.create(workspace)
  }

  listWorkspaces() {
    return this.#workspaces.list()
  }

  createApiToken(token: NewApiToken) {
    return this.#apiTokens.create(token)
  }

  createFirstApiTokens(tokens: readonly NewApiToken[]) {
    return this.#apiTokens.createFirst(tokens)
  }

  findApiToken(tokenHash: Uint8Array) {
    return this.#apiTokens.find(tokenHash)
  }

  listApiTokens() {
    return this.#apiTokens.list()
  }

  revokeApiToken(command: RevokeApiToken) {
    return this.#apiTokens.revoke(command)
  }

  rotateApiToken(command: RotateApiToken) {
    return this.#apiTokens.rotate(command)
  }

  limitApiToken(command: LimitApiToken) {
    return this.#apiTokens.limit(command)
  }

  reportUsage(usageReports: readonly UsageReport[]) {
    return this.#apiTokens.reportUsage(usageReports)
  }

  recordApiTokenUses(uses: readonly ApiTokenUse[]) {
    return this.#apiTokens.recordUses(uses)
  }

  createConsoleSession(session: NewConsoleSession) {
    return this.#consoleSessions.create(session)
  }

  findConsoleSession(hash: Uint8Array) {
    return this.#consoleSessions.find(hash)
  }

  touchConsoleSession(hash: Uint8Array, now: number) {
    return this.#consoleSessions.touch(hash, now)
  }

  deleteConsoleSession(hash: Uint8Array) {
    return this.#consoleSessions.delete(hash)
  }

  listSecretKeyChecks() {
    return this.#secretKeyChecks.list()
  }

  addSecretKeyCheck(check: SecretKeyCheck) {
    return this.#secretKeyChecks.add(check)
  }

  deleteSecretKeyCheck(keyId: string) {
    return this.#secretKeyChecks.delete(keyId)
  }

  retireSecretKey(keyId: string) {
    return this.#secretKeyChecks.retire(keyId)
  }

  listRetiredSecretKeys() {
    return this.#secretKeyChecks.listRetired()
  }

  listEncryptedTokens(query: ListEncryptedTokens) {
    return this.#encryptedTokens.list(query)
  }

  replaceEncryptedTokens(tokens: readonly ReencryptedToken[]) {
    return this.#encryptedTokens.replace(tokens)
  }

  listAuditEvents(query: ListAuditEvents) {
    return this.#audit.list(query)
  }

  pruneAuditEvents(command: PruneAuditEvents) {
    return this.#audit.prune(command)
  }

  ping() {
    return new Retry(pingDeadlineMs).run(() => this.#workspaces.probe())
  }

  async close() {
    await this.#retry.idle()
    await this.#primary.close()
  }
}
