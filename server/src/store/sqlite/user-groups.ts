import type { Database, Statement } from 'better-sqlite3'
import type { Actor, Author } from '../../domain/audit/audit-event.ts'
import type { Environment } from '../../domain/environment.ts'
import { Fault } from '../../domain/fault.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import {
  decideChange,
  decideCreation,
  decideDeletion,
  decideEndOfGracePeriod,
  decideEndOfSessions,
  decideGetOrCreate,
  decideRestoration,
  decideRotation,
  decideSuspension,
  isSuspended,
  isTokenActive,
  mappingToCheck,
  revisionsKept,
  type Rotation,
  type RotationTarget,
  type Transition,
} from '../../domain/user-group/decisions.ts'
import type {
  ActiveUserGroup,
  DeleteUserGroup,
  EndGracePeriod,
  EndSessionsOutcome,
  EndViewerSessions,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  IdentifiedToken,
  ListUserGroups,
  NewToken,
  RestoreOutcome,
  RestoreUserGroup,
  RotateOutcome,
  RotateUserGroupToken,
  SecretKeyRetired,
  SuspendOutcome,
  SuspendUserGroup,
  TokenOwner,
  TokenReference,
  UpdateOutcome,
  UpdateUserGroup,
  UserGroupState,
  UserGroupStore,
} from '../../domain/user-group/user-group-store.ts'
import { bucketOf, locationOf, type UserGroupLocation } from '../../domain/user-group/location.ts'
import type { UserGroup, UserGroupKey } from '../../domain/user-group/user-group.ts'
import { auditedChangeOf } from '../audit-row.ts'
import {
  changedColumns,
  columnValue,
  keptColumns,
  restoredColumns,
  tokenlessUserGroupOf,
  userGroupOf,
  versionColumns,
  viewOf,
  type DeletedRow,
  type UserGroupRow,
} from '../user-group-row.ts'
import type { AuditLog } from './audit-log.ts'
import type { ChangeTracker } from './change-tracker.ts'
import type { Integrity } from './integrity.ts'
import type { Mappings } from './mappings.ts'
import type { Synchronous } from './port.ts'
import { viewColumnsAsText, viewRowOf, type ViewValues } from './view-row.ts'
import { UserGroupTokens } from './user-group-tokens.ts'

export interface UserGroupsDependencies {
  readonly changeTracker: ChangeTracker
  readonly mappings: Mappings
  readonly audit: AuditLog
  readonly integrity: Pick<Integrity, 'refuseAbsence'>
}

/**
 * The operations on user groups and their tokens. Each one loads rows, decides, and applies the decision, within one
 * transaction of `GroupCommit`.
 */
export class UserGroups implements Synchronous<Omit<UserGroupStore, 'getOrCreateMany'>> {
  readonly #changeTracker: ChangeTracker
  readonly #mappings: Mappings
  readonly #audit: AuditLog
  readonly #integrity: Pick<Integrity, 'refuseAbsence'>
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #tokens: UserGroupTokens

  constructor(database: Database, { changeTracker, mappings, audit, integrity }: UserGroupsDependencies) {
    this.#changeTracker = changeTracker
    this.#mappings = mappings
    this.#audit = audit
    this.#integrity = integrity
    this.#statements = prepareStatements(database)
    this.#tokens = new UserGroupTokens(database, integrity)
  }

  getOrCreate(command: GetOrCreateUserGroup): GetOrCreateOutcome {
    const { key, issueToken } = command
    const values = this.#statements.selectView.get(key.workspaceId, key.environment, key.providedId)
    const view = values === undefined ? null : viewOf(key, viewRowOf(values))
    const decision = decideGetOrCreate(view, command)
    if (view !== null && decision === 'unchanged') {
      const state = { location: locationOf(view), stamp: this.#changeTracker.current }
      return { outcome: 'unchanged', userGroup: view, state }
    }
    if (decision === 'write_required' || decision === 'name_required') return { outcome: decision }
    if (decision === 'change') return this.update(command) as GetOrCreateOutcome
    const refusal = this.#mappings.check(key, mappingToCheck(command))
    if (refusal !== null) return refusal
    const teamId = this.#nextTeamId()
    const token = issueToken(key, { bucket: bucketOf(key), teamId })
    return (
      this.#checkSecretKey(token) ?? { outcome: 'created', userGroup: this.#create(command, teamId, token) }
    )
  }

  update(command: UpdateUserGroup): UpdateOutcome {
    const decision = decideChange(this.find(command.key), command)
    if (decision.outcome !== 'updated') return decision
    const refusal = this.#mappings.check(command.key, decision.mappingToCheck)
    return refusal ?? { outcome: 'updated', userGroup: this.#apply(decision, command) }
  }

  suspend(command: SuspendUserGroup): SuspendOutcome {
    const decision = decideSuspension(this.find(command.key), command)
    return 'to' in decision ? { outcome: 'updated', userGroup: this.#apply(decision, command) } : decision
  }

  endSessions(command: EndViewerSessions): EndSessionsOutcome {
    const decision = decideEndOfSessions(this.find(command.key), command)
    return 'to' in decision ? { outcome: 'updated', userGroup: this.#apply(decision, command) } : decision
  }

  rotate(command: RotateUserGroupToken): RotateOutcome {
    const target = this.#findTarget(command)
    const record = target && this.#tokens.findRecord(target.userGroup, command.idempotency)
    const decision = decideRotation(target, record, command, command.issueToken)
    if (decision.outcome !== 'rotated') return decision
    const retired = this.#checkSecretKey(decision.token)
    if (retired !== null) return retired
    this.#applyRotation(decision, command)
    return { outcome: 'rotated', userGroup: decision.userGroup }
  }

  endGracePeriod(command: EndGracePeriod): void {
    const { workspaceId, environment, token, now } = command
    const issued = this.identifyToken(workspaceId, environment, token)
    const event = decideEndOfGracePeriod(issued, command)
    if (issued === null || event === null) return
    this.#tokens.endGracePeriod(workspaceId, token, now)
    this.#audit.append(event.action, command, { ...event, userGroup: issued.userGroup })
  }

  delete(command: DeleteUserGroup): 'deleted' | 'not_found' | 'revision_mismatch' {
    const { key } = command
    const decision = decideDeletion(this.find(key), command)
    if (decision.outcome !== 'deleted') return decision.outcome
    const { deleted, entries, event } = decision
    this.#statements.keepDeleted.run(deleted.deletedAt, deleted.deletedBy, deleted.teamId)
    this.#mappings.changeEntries(key, deleted.teamId, entries)
    this.#tokens.deleteAll(deleted)
    this.#statements.delete.run(deleted.teamId)
    this.#audit.append(event.action, auditedChangeOf(command), { ...event, userGroup: deleted })
    return 'deleted'
  }

  restore(command: RestoreUserGroup): RestoreOutcome {
    const { workspaceId, environment, teamId } = command
    const row = this.#statements.selectDeleted.get(workspaceId, teamId, environment)
    const deleted =
      row === undefined ? null : { userGroup: userGroupOf(command, row), deletedAt: row.deleted_at }
    const isIdTaken = deleted !== null && this.find(deleted.userGroup) !== null
    const decision = decideRestoration(deleted, isIdTaken, command)
    if (decision.outcome !== 'restored') return decision
    const { userGroup, entries, event } = decision
    this.#statements.restore.run(workspaceId, teamId)
    this.#statements.deleteDeleted.run(workspaceId, teamId)
    this.#mappings.changeEntries(command, teamId, entries)
    this.#audit.append(event.action, command, { ...event, userGroup })
    return { outcome: 'restored', userGroup }
  }

  find(key: UserGroupKey): UserGroup | null {
    const row = this.#statements.select.get(key.workspaceId, key.environment, key.providedId)
    if (row === undefined) this.#integrity.refuseAbsence()
    return row === undefined ? null : userGroupOf(key, row)
  }

  findById(workspaceId: number, environment: Environment, teamId: number): UserGroup | null {
    const row = this.#statements.selectById.get(teamId, workspaceId, environment)
    if (row === undefined) this.#integrity.refuseAbsence()
    return row === undefined ? null : userGroupOf({ workspaceId, environment }, row)
  }

  list(query: ListUserGroups): UserGroup[] {
    const { workspaceId, environment, afterProvidedId, limit } = query
    return this.#statements.selectPage
      .all(workspaceId, environment, afterProvidedId ?? '', limit)
      .map((row) => userGroupOf(query, row))
  }

  findByToken(
    workspaceId: number,
    environment: Environment,
    token: TokenReference,
    now: number,
  ): TokenOwner | null {
    const scope = { workspaceId, environment }
    const found = this.#tokens.find(scope, token)
    if (found === null) return null
    const { row, superseded } = found
    const userGroup = tokenlessUserGroupOf(scope, row)
    const validUntil = superseded?.valid_until ?? null
    if (!isTokenActive({ userGroup, validUntil }, now)) return null
    const dataSources = this.#mappings.findRegistered(scope, row.mapping)
    const issuedAt = superseded?.issued_at ?? row.token_issued_at
    const state = { location: token, stamp: this.#changeTracker.current }
    return { userGroup, state, issuedAt, validUntil, dataSources }
  }

  findActive(
    workspaceId: number,
    environment: Environment,
    location: UserGroupLocation,
  ): ActiveUserGroup | null {
    const userGroup = this.findById(workspaceId, environment, location.teamId)
    if (userGroup === null || isSuspended(userGroup)) return null
    const state = { location, stamp: this.#changeTracker.current }
    return { userGroup, state, dataSources: this.#mappings.findRegistered(userGroup, userGroup.mapping) }
  }

  identifyToken(
    workspaceId: number,
    environment: Environment,
    token: TokenReference,
  ): IdentifiedToken | null {
    const scope = { workspaceId, environment }
    const found = this.#tokens.find(scope, token)
    return (
      found && {
        userGroup: tokenlessUserGroupOf(scope, found.row),
        validUntil: found.superseded?.valid_until ?? null,
      }
    )
  }

  isUnchanged(_workspaceId: number, _environment: Environment, { location, stamp }: UserGroupState): boolean {
    return this.#changeTracker.isUnchanged(location.teamId, stamp)
  }

  /** Returns the id after the highest one ever used. The insertion marks it as used. @throws Fault `unavailable` */
  #nextTeamId(): number {
    const last = this.#statements.selectLastTeamId.get() ?? 0
    if (last < Number.MAX_SAFE_INTEGER) return last + 1
    throw new Fault('unavailable', 'The store is unavailable', {
      reason: 'IDS_EXHAUSTED: the ids of user groups are used up; run `ugs doctor`',
    })
  }

  #create(command: GetOrCreateUserGroup, teamId: number, token: NewToken): UserGroup {
    const { userGroup, tokenHash, entries, event } = decideCreation(command, teamId, token)
    this.#statements.insert.run(
      userGroup.teamId,
      userGroup.workspaceId,
      userGroup.environment,
      userGroup.providedId,
      userGroup.name,
      userGroup.mapping,
      userGroup.properties,
      tokenHash,
      userGroup.token.keyId,
      userGroup.token.sealed,
      userGroup.tokenIssuedAt,
      userGroup.createdAt,
      userGroup.updatedAt,
      userGroup.updatedBy,
    )
    this.#mappings.changeEntries(userGroup, teamId, entries)
    this.#audit.append(event.action, auditedChangeOf(command), { ...event, userGroup })
    return userGroup
  }

  #apply(
    { from, to, version, entries, event, ended }: Transition,
    command: Actor & { readonly key: TenantScope; readonly now: number },
  ): UserGroup {
    if (version !== null) {
      this.#statements.insertVersion.run(
        from.workspaceId,
        from.teamId,
        version.revision,
        ...versionColumns.map((column) => columnValue(version, column)),
      )
      this.#statements.deleteVersions.run(from.workspaceId, from.teamId, from.revision - revisionsKept)
    }
    this.#statements.update.run(
      ...changedColumns.map((column) => columnValue(to, column)),
      to.revision,
      to.teamId,
    )
    this.#mappings.changeEntries(to, to.teamId, entries)
    if (ended !== null)
      this.#statements.endSessions.run(to.workspaceId, to.teamId, ended.subject, ended.endedAt)
    this.#audit.append(event.action, auditedChangeOf(command), { ...event, userGroup: to })
    return to
  }

  #applyRotation(
    { userGroup, token, supersededToken, event }: Rotation,
    command: RotateUserGroupToken,
  ): void {
    const { idempotency, now } = command
    this.#tokens.insertSuperseded(userGroup, supersededToken)
    this.#statements.updateToken.run(
      token.hash,
      token.keyId,
      token.sealed,
      now,
      event.revision,
      userGroup.teamId,
    )
    this.#audit.append(event.action, command, { ...event, userGroup })
    if (idempotency !== undefined) this.#tokens.saveRecord(userGroup, idempotency)
  }

  #findTarget(command: RotateUserGroupToken): RotationTarget | null {
    const { workspaceId, environment, target } = command
    if ('providedId' in target) {
      const row = this.#statements.select.get(workspaceId, environment, target.providedId)
      if (row === undefined) {
        this.#integrity.refuseAbsence()
        return null
      }
      return {
        userGroup: tokenlessUserGroupOf(command, row),
        tokenHash: row.token_hash,
        isSuperseded: false,
      }
    }
    const found = this.#tokens.find(command, target.token)
    return (
      found && {
        userGroup: tokenlessUserGroupOf(command, found.row),
        tokenHash: target.token.hash,
        isSuperseded: found.superseded !== null,
      }
    )
  }

  #checkSecretKey({ keyId }: NewToken): SecretKeyRetired | null {
    const isRetired = this.#statements.selectRetiredSecretKey.get(keyId) !== undefined
    return isRetired ? { outcome: 'secret_key_retired', keyId } : null
  }
}

// eslint-disable-next-line max-lines-per-function -- A list of statements.
function prepareStatements(database: Database) {
  const prepare = <Values extends unknown[], Row = unknown>(text: string): Statement<Values, Row> =>
    database.prepare<Values, Row>(text)
  return {
    select: prepare<[number, Environment, string], UserGroupRow>(
      'SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id = ?',
    ),
    selectView: database
      .prepare<[number, Environment, string], ViewValues>(
        `SELECT ${viewColumnsAsText} FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id = ?`,
      )
      .raw(),
    selectById: prepare<[number, number, Environment], UserGroupRow>(
      'SELECT * FROM user_group WHERE team_id = ? AND workspace_id = ? AND environment = ?',
    ),
    selectPage: prepare<[number, Environment, string, number], UserGroupRow>(
      `SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id > ?
       ORDER BY provided_id LIMIT ?`,
    ),
    selectLastTeamId: database
      .prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'user_group'")
      .pluck(),
    selectRetiredSecretKey: prepare<[string]>('SELECT 1 FROM retired_secret_key WHERE key_id = ?'),
    insert: prepare(
      `INSERT INTO user_group (team_id, workspace_id, environment, provided_id, name, mapping, properties,
                               token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at,
                               updated_by)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    update: prepare(
      `UPDATE user_group SET ${changedColumns.map((column) => `${column} = ?`).join(', ')}, revision = ?
       WHERE team_id = ?`,
    ),
    insertVersion: prepare(
      `INSERT INTO user_group_version (workspace_id, team_id, revision, ${versionColumns.join(', ')})
       VALUES (?, ?, ?${', ?'.repeat(versionColumns.length)})`,
    ),
    deleteVersions: prepare<[number, number, number]>(
      'DELETE FROM user_group_version WHERE workspace_id = ? AND team_id = ? AND revision <= ?',
    ),
    endSessions: prepare(
      `INSERT INTO ended_session (workspace_id, team_id, subject, ended_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET ended_at = max(ended_at, excluded.ended_at)`,
    ),
    updateToken: prepare(
      `UPDATE user_group SET token_hash = ?, token_key_id = ?, token_sealed = ?, token_issued_at = ?, revision = ?
       WHERE team_id = ?`,
    ),
    keepDeleted: prepare<[number, Author, number]>(
      `INSERT INTO deleted_user_group (${keptColumns}, deleted_at, deleted_by)
       SELECT ${keptColumns}, ?, ? FROM user_group WHERE team_id = ?`,
    ),
    delete: prepare<[number]>('DELETE FROM user_group WHERE team_id = ?'),
    selectDeleted: prepare<[number, number, Environment], DeletedRow>(
      'SELECT * FROM deleted_user_group WHERE workspace_id = ? AND team_id = ? AND environment = ?',
    ),
    restore: prepare<[number, number]>(
      `INSERT INTO user_group (${keptColumns})
       SELECT ${restoredColumns} FROM deleted_user_group WHERE workspace_id = ? AND team_id = ?`,
    ),
    deleteDeleted: prepare<[number, number]>(
      'DELETE FROM deleted_user_group WHERE workspace_id = ? AND team_id = ?',
    ),
  }
}
