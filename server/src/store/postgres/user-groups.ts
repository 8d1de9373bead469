import type { Actor } from '../../domain/audit/audit-event.ts'
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
  mappingToCheck,
  rotatedUserGroupOf,
  type RotationTarget,
} from '../../domain/user-group/decisions.ts'
import type {
  DeleteUserGroup,
  EndGracePeriod,
  EndSessionsOutcome,
  EndViewerSessions,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  IssueToken,
  NewToken,
  RestoreOutcome,
  RestoreUserGroup,
  RotateOutcome,
  RotateUserGroupToken,
  SecretKeyRetired,
  SuspendOutcome,
  SuspendUserGroup,
  UpdateOutcome,
  UpdateUserGroup,
  UserGroupStore,
} from '../../domain/user-group/user-group-store.ts'
import { bucketOf, locationOf } from '../../domain/user-group/location.ts'
import { changesNothing, type UserGroup, type UserGroupKey } from '../../domain/user-group/user-group.ts'
import { auditedChangeOf } from '../audit-row.ts'
import { tokenlessUserGroupOf, userGroupOf, viewOf } from '../user-group-row.ts'
import { uniqueViolation } from './postgres-fault.ts'
import type { PrimaryPool } from './primary-pool.ts'
import { untilApplied, type Attempt, type Retry } from './retry.ts'
import type { Bucketed } from './scoped-coalescer.ts'
import { TeamIds } from './team-ids.ts'
import * as sql from './user-group-sql.ts'
import {
  callValues,
  entriesText,
  eventValues,
  withBucket,
  type ChangeDecision,
  type IssuedToken,
} from './user-group-statements.ts'
import { UserGroupReads, type UserGroupParts } from './user-group-reads.ts'

/**
 * The operations on user groups and their tokens. Each change loads rows, decides, and applies the decision in one statement
 * that takes effect only if the rows are unchanged; otherwise the operation starts over. If the connection breaks in that
 * statement, the commit is ambiguous: the next attempt finds out from the rows whether it happened.
 */
export class UserGroups extends UserGroupReads implements UserGroupStore {
  readonly #teamIds: TeamIds
  /** Moving average: 1 if all recent `getOrCreate` created, 0 if none. */
  #shareOfCreations = 0

  constructor(primary: PrimaryPool, retry: Retry, parts: UserGroupParts) {
    super(primary, retry, parts)
    this.#teamIds = new TeamIds(primary)
  }

  getOrCreate(command: GetOrCreateUserGroup): Promise<GetOrCreateOutcome> {
    const key = withBucket(command.key)
    let issued: IssuedToken | undefined
    let lossesAtIssue = 0
    // After an ambiguous commit, the team id tells that this operation created the user group.
    const ownTeamIds = new Set<number>()
    return this.retry.run(async (attempt) => {
      if (attempt.reason === uniqueViolation && !attempt.isAmbiguous) {
        // The team id was taken: the sequence repeats a block that an earlier primary had given out.
        if (issued !== undefined) this.#teamIds.discardBlockOf(issued.teamId)
        ownTeamIds.clear()
        issued = undefined
      }
      // After a failover, the sequence may give the id to another user group.
      if (this.primary.lossCount !== lossesAtIssue) issued = undefined
      const issue = async () => {
        if (issued === undefined) {
          lossesAtIssue = this.primary.lossCount
          issued = await this.#issue(command, key.bucket)
          ownTeamIds.add(issued.teamId)
        }
        return issued
      }
      const insertsFirst = !attempt.isAmbiguous && this.#insertsFirst(command)
      if (insertsFirst) {
        const created = await this.#create({ ...command, key }, issue, false, attempt)
        // A refused mapping may be that of an unchanged user group.
        if (created?.outcome === 'created') return created
      }
      for (let isRepeated = insertsFirst; ; isRepeated = true) {
        const row = await this.statements.selectView.add(key, attempt)
        const isOurs = row !== null && attempt.isAmbiguous && ownTeamIds.has(row.team_id)
        const decision = decideGetOrCreate(row, command)
        if (decision !== 'create') this.#count(false)
        switch (decision) {
          case 'unchanged': {
            if (row === null) continue
            if (!isOurs) {
              const location = { bucket: key.bucket, teamId: row.team_id }
              const state = { location, stamp: row.stamp }
              return { outcome: 'unchanged', userGroup: viewOf(key, row), state }
            }
            const created = await this.statements.select.add(key, attempt)
            if (created !== null) return { outcome: 'created', userGroup: userGroupOf(key, created) }
            continue
          }
          case 'create': {
            const created = await this.#create({ ...command, key }, issue, isRepeated, attempt)
            if (created !== null) return created
            continue
          }
          case 'change': {
            const changed = await this.#change(command, attempt)
            if (changed?.outcome === 'mapping_refused') return changed
            if (changed?.outcome === 'updated')
              return { outcome: isOurs ? 'created' : 'updated', userGroup: changed.userGroup }
            continue
          }
          default:
            return { outcome: decision }
        }
      }
    })
  }

  getOrCreateMany(commands: readonly GetOrCreateUserGroup[]): Promise<readonly GetOrCreateOutcome[]> {
    return Promise.all(commands.map((command) => this.getOrCreate(command)))
  }

  update(command: UpdateUserGroup): Promise<UpdateOutcome> {
    return this.retry.run((attempt) => untilApplied(() => this.#change(command, attempt)))
  }

  suspend(command: SuspendUserGroup): Promise<SuspendOutcome> {
    const { suspended } = command
    const decide = (current: UserGroup | null, wasAmbiguous: boolean) =>
      wasAmbiguous && current !== null && isSuspended(current) === suspended
        ? { outcome: 'updated' as const, userGroup: current }
        : decideSuspension(current, command)
    return this.retry.run((attempt) =>
      untilApplied(() => this.#apply<SuspendOutcome>(command, attempt, decide)),
    )
  }

  endSessions(command: EndViewerSessions): Promise<EndSessionsOutcome> {
    const { expected, ...unconditional } = command
    // After an ambiguous commit, the sessions end again, whatever the revision is.
    const decide = (current: UserGroup | null, wasAmbiguous: boolean) =>
      wasAmbiguous && current !== null && current.teamId === (expected?.teamId ?? current.teamId)
        ? decideEndOfSessions(current, unconditional)
        : decideEndOfSessions(current, command)
    return this.retry.run((attempt) =>
      untilApplied(() => this.#apply<EndSessionsOutcome>(command, attempt, decide)),
    )
  }

  delete(command: DeleteUserGroup): Promise<'deleted' | 'not_found' | 'revision_mismatch'> {
    const key = withBucket(command.key)
    let teamId = command.expected?.teamId
    return this.retry.run(async (attempt) => {
      for (;;) {
        const row = await this.statements.select.add(key, attempt)
        teamId ??= row?.team_id
        // After an ambiguous commit, a user group with the same user_group_id and another team id is a new one.
        if (row === null || row.team_id !== teamId) return attempt.isAmbiguous ? 'deleted' : 'not_found'
        const decision = decideDeletion(userGroupOf(key, row), command)
        if (decision.outcome !== 'deleted') return decision.outcome
        const { deleted, entries, event } = decision
        const values = callValues(sql.deleteUserGroup, key.bucket, {
          workspace_id: key.workspaceId,
          environment: key.environment,
          team_id: teamId,
          revision: row.revision,
          updated_at: row.updated_at,
          deleted_at: deleted.deletedAt,
          entries: entriesText(entries.removed),
          ...eventValues(key.providedId, command, event),
        })
        const [result] = await attempt.change((sent) => this.primary.query(sql.deleteUserGroup, values, sent))
        if (result?.has_changed) return 'deleted'
      }
    })
  }

  restore(command: RestoreUserGroup): Promise<RestoreOutcome> {
    const { workspaceId, environment, teamId } = command
    return this.retry.run(async (attempt) => {
      for (;;) {
        const select = () => this.primary.query(sql.selectDeleted, [workspaceId, environment, teamId])
        const [row] = await this.distribution.onNodeOf(null, select)
        const deleted =
          row === undefined ? null : { userGroup: userGroupOf(command, row), deletedAt: row.deleted_at }
        const key = deleted && withBucket(deleted.userGroup)
        const holder = key && (await this.statements.select.add(key, attempt))
        // Another operation restored it after the first read.
        if (holder?.team_id === teamId && !attempt.isAmbiguous) continue
        const isIdTaken = holder !== null
        const decision = decideRestoration(deleted, isIdTaken, command)
        if (decision.outcome !== 'restored') {
          const existing = attempt.isAmbiguous ? await this.selectById(command, teamId) : null
          return existing === null ? decision : { outcome: 'restored', userGroup: existing }
        }
        const { userGroup, entries, event } = decision
        const values = callValues(sql.restoreUserGroup, bucketOf(userGroup), {
          workspace_id: workspaceId,
          environment,
          team_id: teamId,
          deleted_at: deleted?.deletedAt,
          entries: entriesText(entries.added),
          ...eventValues(userGroup.providedId, command, event),
        })
        const [result] = await attempt.change((sent) =>
          this.primary.query(sql.restoreUserGroup, values, sent),
        )
        if (result?.has_changed) return { outcome: 'restored', userGroup }
      }
    })
  }

  rotate(command: RotateUserGroupToken): Promise<RotateOutcome> {
    let token: NewToken | undefined
    return this.retry.run(async (attempt) => {
      for (let isRepeated = false; ; isRepeated = true) {
        const target = await this.#findTarget(command, attempt)
        const location = target && locationOf(target.userGroup)
        // Reads in this order: an earlier attempt may commit after the target was read.
        if (attempt.isAmbiguous && token !== undefined && location !== null) {
          const own = await this.tokens.find(command, { ...location, hash: token.hash }, attempt)
          if (own !== null) {
            const userGroup = rotatedUserGroupOf(tokenlessUserGroupOf(command, own), token)
            return { outcome: 'rotated', userGroup }
          }
        }
        // Another rotation with the same idempotency key may commit after the target was read.
        const record =
          location && (await this.tokens.findRecord(command, location, command.idempotency, attempt))
        const issue: IssueToken = (key, at) => (token ??= command.issueToken(key, at))
        const decision = decideRotation(target, record, command, issue)
        if (decision.outcome !== 'rotated' || location === null) return decision
        const retired = isRepeated ? await this.#checkSecretKey(decision.token) : null
        if (retired !== null) return retired
        const expected = 'providedId' in command.target ? command.target.expected : undefined
        const expectedRevision = expected?.revision ?? null
        const item = { ...command, bucket: location.bucket, rotation: decision, expectedRevision }
        const isReplaced = await attempt.change((sent) =>
          this.statements.replaceToken.add(item, attempt, sent),
        )
        if (isReplaced) return { outcome: 'rotated', userGroup: decision.userGroup }
      }
    })
  }

  endGracePeriod(command: EndGracePeriod): Promise<void> {
    const { token, now, workspaceId, environment } = command
    const { bucket, teamId, hash } = token
    return this.retry.run(async (attempt) => {
      const row = await this.tokens.find(command, token, attempt)
      const userGroup = row && tokenlessUserGroupOf(command, row)
      const event = decideEndOfGracePeriod(
        row && userGroup && { userGroup, validUntil: row.valid_until },
        command,
      )
      if (event === null) return
      const values = callValues(sql.endGracePeriod, bucket, {
        workspace_id: workspaceId,
        environment,
        team_id: teamId,
        token_hash: hash,
        time: now,
        ...eventValues(userGroup?.providedId, command, event),
      })
      await attempt.change((sent) => this.primary.query(sql.endGracePeriod, values, sent))
    })
  }

  /** Returns whether to insert the user group before it is looked up, which saves a statement if it does not exist. */
  #insertsFirst(command: GetOrCreateUserGroup): boolean {
    return this.#shareOfCreations > 0.8 && decideGetOrCreate(null, command) === 'create'
  }

  #count(isCreation: boolean): void {
    this.#shareOfCreations += (Number(isCreation) - this.#shareOfCreations) / 100
  }

  /** Draws a team id and issues the token for it. */
  async #issue(command: GetOrCreateUserGroup, bucket: number): Promise<IssuedToken> {
    const teamId = await this.#teamIds.next()
    return { teamId, token: command.issueToken(command.key, { bucket, teamId }) }
  }

  /** Returns null if nothing was created: another operation did it, the registry changed, or the secret key is retired. */
  async #create(
    command: GetOrCreateUserGroup & { readonly key: Bucketed },
    issue: () => Promise<IssuedToken>,
    isRepeated: boolean,
    attempt: Attempt,
  ): Promise<GetOrCreateOutcome | null> {
    const mapping = mappingToCheck(command)
    if (isRepeated) this.mappings.forget(command.key)
    const { refusal, registryVersion } = await this.mappings.check(command.key, mapping, attempt)
    if (refusal !== null) return refusal
    const { teamId, token } = await issue()
    const retired = isRepeated ? await this.#checkSecretKey(token) : null
    if (retired !== null) return retired
    const creation = decideCreation(command, teamId, token)
    const { workspaceId, environment, bucket } = command.key
    const { author, requestId, now } = command
    const item = { workspaceId, environment, bucket, author, requestId, now, creation, registryVersion }
    const isCreated = await attempt.change((sent) => this.statements.create.add(item, attempt, sent))
    if (isCreated) this.#count(true)
    return isCreated ? { outcome: 'created', userGroup: creation.userGroup } : null
  }

  #change(command: UpdateUserGroup, attempt: Attempt): Promise<UpdateOutcome | null> {
    const { change } = command
    const weight = (change.mapping?.length ?? 0) + (change.properties?.length ?? 0)
    const decide = (current: UserGroup | null, wasAmbiguous: boolean) =>
      wasAmbiguous && current !== null && changesNothing(current, change)
        ? { outcome: 'updated' as const, userGroup: current }
        : decideChange(current, command)
    return this.#apply(command, attempt, decide, weight)
  }

  /**
   * Returns null if the user group changed between loading and applying.
   * @param weight length of the texts that the decision writes
   */
  #apply<Outcome extends UpdateOutcome>(
    command: Actor & { readonly key: UserGroupKey; readonly now: number },
    attempt: Attempt,
    decide: (current: UserGroup | null, wasAmbiguous: boolean) => ChangeDecision,
    weight = 0,
  ): Promise<Outcome | null> {
    const wasAmbiguous = attempt.isAmbiguous
    const item = {
      ...auditedChangeOf(command),
      ...withBucket(command.key),
      weight,
      decide: (current: UserGroup | null) => decide(current, wasAmbiguous),
    }
    return attempt.change((sent) =>
      this.statements.change.add(item, attempt, sent),
    ) as Promise<Outcome | null>
  }

  /** Runs after a creation or rotation had no effect, to tell the reason. */
  async #checkSecretKey({ keyId }: NewToken): Promise<SecretKeyRetired | null> {
    const isRetired = (await this.primary.query(sql.selectRetiredSecretKey, [keyId])).length > 0
    return isRetired ? { outcome: 'secret_key_retired', keyId } : null
  }

  async #findTarget(command: RotateUserGroupToken, attempt: Attempt): Promise<RotationTarget | null> {
    const { target, workspaceId, environment } = command
    if ('token' in target) {
      const row = await this.tokens.find(command, target.token, attempt)
      if (row === null) return null
      const userGroup = tokenlessUserGroupOf(command, row)
      return { userGroup, tokenHash: target.token.hash, isSuperseded: row.valid_until !== null }
    }
    const key = withBucket({ workspaceId, environment, providedId: target.providedId })
    const row = await this.statements.select.add(key, attempt)
    if (row === null) return null
    return { userGroup: tokenlessUserGroupOf(command, row), tokenHash: row.token_hash, isSuperseded: false }
  }
}
