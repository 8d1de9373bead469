import type { AuditAction } from '../audit/audit-event.ts'
import {
  mappingEntries,
  mayName,
  mustCheck,
  type MappingEntry,
  type MappingToCheck,
} from '../data-source/data-source.ts'
import type { JsonText } from '../json/json-text.ts'
import { endedDetails, endedSubject, type EndedSessions } from '../viewer-session/ended-session.ts'
import { locationOf } from './location.ts'
import type {
  DeleteUserGroup,
  EndGracePeriod,
  EndViewerSessions,
  ExpectedUserGroup,
  GetOrCreateUserGroup,
  IdentifiedToken,
  IssueToken,
  NewToken,
  RestoreUserGroup,
  RotatedUserGroup,
  RotateUserGroupToken,
  SuspendUserGroup,
  UpdateUserGroup,
} from './user-group-store.ts'
import {
  changedFields,
  changesNothing,
  type DeletedUserGroup,
  type TokenlessUserGroup,
  type UserGroup,
  type UserGroupContent,
  type UserGroupVersion,
} from './user-group.ts'

// The rules of every write to a user group, as pure functions. A store reads the rows, calls the function, and applies
// the result only if the rows are still as they were.

/** Number of revisions for which an earlier version is kept. Bounds the disk space of user groups that change often. */
export const revisionsKept = 100

/** Audit event of a user group, before the store adds actor and id, with what the event for the feed also contains. */
export interface UserGroupEvent {
  readonly action: AuditAction
  readonly details: object | null
  /** Revision after the change. */
  readonly revision: number
  /** Hash of the only token whose meaning changes; null if all tokens of the user group are concerned. */
  readonly tokenHash: Uint8Array | null
}

/** Difference of two mappings, for the index of mapping entries. */
export interface EntryChanges {
  readonly added: readonly MappingEntry[]
  readonly removed: readonly MappingEntry[]
}

/** Writes that bring a user group from one revision to the next. */
export interface Transition {
  readonly from: UserGroup
  readonly to: UserGroup
  /** Version to keep; null if name, mapping and properties stay. */
  readonly version: UserGroupVersion | null
  readonly entries: EntryChanges
  readonly event: UserGroupEvent
  /** Null if no viewer session ends. */
  readonly ended: EndedSessions | null
  /** Null if there is nothing to check. */
  readonly mappingToCheck: MappingToCheck | null
}

interface Refusal<Outcome extends string> {
  readonly outcome: Outcome
}
interface Unchanged {
  readonly outcome: 'unchanged'
  readonly userGroup: UserGroup
}
type Updated = { readonly outcome: 'updated' } & Transition
type Mismatch = Refusal<'not_found' | 'revision_mismatch'>

/** Decides whether a get-or-create request creates, changes, or only reads the user group. */
export function decideGetOrCreate(
  current: UserGroupContent | null,
  { change, mayWrite, mayChange = mayWrite }: Pick<GetOrCreateUserGroup, 'change' | 'mayWrite' | 'mayChange'>,
): 'unchanged' | 'change' | 'create' | 'write_required' | 'name_required' {
  if (current !== null && changesNothing(current, change)) return 'unchanged'
  if (current !== null) return mayChange ? 'change' : 'write_required'
  if (!mayWrite) return 'write_required'
  return change.name === undefined ? 'name_required' : 'create'
}

/** Writes of one creation. */
export interface Creation {
  readonly userGroup: UserGroup
  readonly tokenHash: Uint8Array
  readonly entries: EntryChanges
  readonly event: UserGroupEvent
}

export function decideCreation(command: GetOrCreateUserGroup, teamId: number, token: NewToken): Creation {
  const { key, change, author, now } = command
  const { name = '', mapping = null, properties = null } = change
  return {
    userGroup: {
      workspaceId: key.workspaceId,
      environment: key.environment,
      providedId: key.providedId,
      teamId,
      name,
      mapping,
      properties,
      token: { keyId: token.keyId, sealed: token.sealed },
      revision: 1,
      updatedBy: author,
      createdAt: now,
      updatedAt: now,
      tokenIssuedAt: now,
      suspendedAt: null,
    },
    tokenHash: token.hash,
    entries: entryChanges(null, mapping),
    event: { action: 'user_group.created', details: null, revision: 1, tokenHash: null },
  }
}

/** Decides a change of name, mapping or properties: the next state, the version to keep and the audit event. */
export function decideChange(
  current: UserGroup | null,
  command: UpdateUserGroup,
): Mismatch | Unchanged | Updated {
  const { change, expected, author, now } = command
  if (current === null) return { outcome: 'not_found' }
  const mismatch = mismatchOf(current, expected)
  if (mismatch !== null) return mismatch
  if (changesNothing(current, change)) return { outcome: 'unchanged', userGroup: current }
  const { revision, updatedAt, updatedBy, name, mapping, properties } = current
  const to: UserGroup = {
    ...current,
    name: change.name ?? name,
    mapping: change.mapping === undefined ? mapping : change.mapping,
    properties: change.properties === undefined ? properties : change.properties,
    revision: revision + 1,
    updatedAt: now,
    updatedBy: author,
  }
  return {
    outcome: 'updated',
    from: current,
    to,
    version: { revision, updatedAt, updatedBy, name, mapping, properties },
    entries: entryChanges(mapping, to.mapping),
    event: {
      action: 'user_group.updated',
      details: { changed_fields: changedFields(current, to) },
      revision: to.revision,
      tokenHash: null,
    },
    ended: null,
    mappingToCheck: mappingToCheck(command),
  }
}

/** Decides whether the user group becomes suspended or resumed. */
export function decideSuspension(
  current: UserGroup | null,
  { expected, suspended, now }: SuspendUserGroup,
): Mismatch | Unchanged | Updated {
  if (current === null) return { outcome: 'not_found' }
  const mismatch = mismatchOf(current, expected)
  if (mismatch !== null) return mismatch
  if (isSuspended(current) === suspended) return { outcome: 'unchanged', userGroup: current }
  const action = suspended ? 'user_group.suspended' : 'user_group.resumed'
  return newRevision(current, { suspendedAt: suspended ? now : null }, action)
}

/** Decides about the end of viewer sessions. They end although they have ended before: others may have been created since. */
export function decideEndOfSessions(
  current: UserGroup | null,
  { expected, subject, now }: EndViewerSessions,
): Mismatch | Updated {
  if (current === null) return { outcome: 'not_found' }
  const mismatch = mismatchOf(current, expected)
  if (mismatch !== null) return mismatch
  const ended = { subject: endedSubject(subject), endedAt: now }
  return { ...newRevision(current, {}, 'user_group.sessions_ended', endedDetails(subject)), ended }
}

/** Returns a transition that keeps name, mapping and properties, and concerns all tokens of the user group. */
function newRevision(
  from: UserGroup,
  change: Partial<Pick<UserGroup, 'suspendedAt'>>,
  action: AuditAction,
  details: object | null = null,
): Updated {
  const revision = from.revision + 1
  return {
    outcome: 'updated',
    from,
    to: { ...from, ...change, revision },
    version: null,
    entries: { added: [], removed: [] },
    event: { action, details, revision, tokenHash: null },
    ended: null,
    mappingToCheck: null,
  }
}

/** The user group that a rotation is for, with the hash of its current token. */
export interface RotationTarget {
  readonly userGroup: TokenlessUserGroup
  readonly tokenHash: Uint8Array
  /** True if the token in the request is superseded already. */
  readonly isSuperseded: boolean
}

/** Response to an earlier rotation with the same idempotency key. */
export interface IdempotencyRecord {
  readonly fingerprint: Uint8Array
  readonly expiresAt: number
  readonly userGroup: RotatedUserGroup
}

/** Writes of one rotation. */
export interface Rotation {
  readonly from: RotationTarget
  readonly userGroup: RotatedUserGroup
  readonly token: NewToken
  readonly supersededToken: {
    readonly hash: Uint8Array
    readonly issuedAt: number
    readonly supersededAt: number
    readonly validUntil: number
  }
  readonly event: UserGroupEvent
}

/** Decides a rotation. A record of the same idempotency key comes first, so that a retry gets the first response. */
export function decideRotation(
  target: RotationTarget | null,
  record: IdempotencyRecord | null,
  command: RotateUserGroupToken,
  issueToken: IssueToken,
):
  | ({ readonly outcome: 'rotated' } & Rotation)
  | { readonly outcome: 'replayed'; readonly userGroup: RotatedUserGroup }
  | Refusal<'idempotency_key_reused' | 'superseded'>
  | Mismatch {
  const { idempotency, oldTokenValidUntil, now } = command
  if (record !== null && idempotency !== undefined && record.expiresAt > now) {
    return Buffer.compare(record.fingerprint, idempotency.fingerprint) === 0
      ? { outcome: 'replayed', userGroup: record.userGroup }
      : { outcome: 'idempotency_key_reused' }
  }
  if (target === null) return { outcome: 'not_found' }
  if (target.isSuperseded) return { outcome: 'superseded' }
  const { workspaceId, environment, providedId, tokenIssuedAt } = target.userGroup
  const mismatch =
    'providedId' in command.target ? mismatchOf(target.userGroup, command.target.expected) : null
  if (mismatch !== null) return mismatch
  const token = issueToken({ workspaceId, environment, providedId }, locationOf(target.userGroup))
  return {
    outcome: 'rotated',
    from: target,
    userGroup: rotatedUserGroupOf(target.userGroup, token),
    token,
    supersededToken: {
      hash: target.tokenHash,
      issuedAt: tokenIssuedAt,
      supersededAt: now,
      validUntil: oldTokenValidUntil,
    },
    event: {
      action: 'user_group.token_rotated',
      details: { grace_period_seconds: Math.round((oldTokenValidUntil - now) / 1000) },
      revision: target.userGroup.revision + 1,
      tokenHash: target.tokenHash,
    },
  }
}

export function rotatedUserGroupOf(
  { workspaceId, environment, providedId, teamId, name }: TokenlessUserGroup,
  { keyId, sealed }: NewToken,
): RotatedUserGroup {
  return { workspaceId, environment, providedId, teamId, name, token: { keyId, sealed } }
}

/** Returns the audit event if the token's grace period is to end now; null if there is nothing to end. */
export function decideEndOfGracePeriod(
  identified: IdentifiedToken | null,
  { token, now }: EndGracePeriod,
): UserGroupEvent | null {
  const validUntil = identified?.validUntil ?? null
  if (identified === null || validUntil === null || validUntil <= now) return null
  const { revision } = identified.userGroup
  return { action: 'user_group.grace_period_ended', details: null, revision, tokenHash: token.hash }
}

/** Writes of one deletion. */
export interface Deletion {
  readonly deleted: DeletedUserGroup
  readonly entries: EntryChanges
  readonly event: UserGroupEvent
}

export function decideDeletion(
  current: UserGroup | null,
  { expected, author, now }: DeleteUserGroup,
): Mismatch | ({ readonly outcome: 'deleted' } & Deletion) {
  if (current === null) return { outcome: 'not_found' }
  return (
    mismatchOf(current, expected) ?? {
      outcome: 'deleted',
      deleted: { ...current, deletedAt: now, deletedBy: author },
      entries: entryChanges(current.mapping, null),
      event: { action: 'user_group.deleted', details: null, revision: current.revision, tokenHash: null },
    }
  )
}

/** Writes of one restoration. */
export interface Restoration {
  readonly userGroup: UserGroup
  readonly entries: EntryChanges
  readonly event: UserGroupEvent
}

/** Decides a restoration. `isIdTaken` tells whether another user group has the `user_group_id` now. */
export function decideRestoration(
  deleted: { readonly userGroup: UserGroup; readonly deletedAt: number } | null,
  isIdTaken: boolean,
  { deletedAfter }: RestoreUserGroup,
): Refusal<'not_found' | 'id_taken'> | ({ readonly outcome: 'restored' } & Restoration) {
  if (deleted === null || deleted.deletedAt <= deletedAfter) return { outcome: 'not_found' }
  if (isIdTaken) return { outcome: 'id_taken' }
  const { userGroup } = deleted
  const revision = userGroup.revision + 1
  return {
    outcome: 'restored',
    userGroup: { ...userGroup, revision },
    entries: entryChanges(null, userGroup.mapping),
    event: { action: 'user_group.restored', details: null, revision, tokenHash: null },
  }
}

/**
 * Decides whether a token is valid for viewing at `now`: its user group is not suspended, and a superseded token is in its grace
 * period.
 */
export function isTokenActive({ userGroup, validUntil }: IdentifiedToken, now: number): boolean {
  return !isSuspended(userGroup) && (validUntil === null || now < validUntil)
}

export function isSuspended({ suspendedAt }: Pick<UserGroup, 'suspendedAt'>): boolean {
  return suspendedAt !== null
}

function mismatchOf(
  { teamId, revision }: Pick<UserGroup, 'teamId' | 'revision'>,
  expected: ExpectedUserGroup | undefined,
): Mismatch | null {
  if (expected === undefined) return null
  if (teamId !== expected.teamId) return { outcome: 'not_found' }
  const isExpected = expected.revision === undefined || expected.revision === revision
  return isExpected ? null : { outcome: 'revision_mismatch' }
}

/** Returns the mapping to check before it is stored; null if there is nothing to check. */
export function mappingToCheck({
  change: { mapping = null },
  mappingMode: mode,
}: Pick<UpdateUserGroup, 'change' | 'mappingMode'>): MappingToCheck | null {
  if (mapping === null || mode === undefined) return null
  const toCheck = { mapping, mode }
  return mustCheck(toCheck) ? toCheck : null
}

function entryChanges(before: JsonText | null, after: JsonText | null): EntryChanges {
  if (before === after) return { added: [], removed: [] }
  if (before === null) return { added: mappingEntries(after).filter(mayName), removed: [] }
  if (after === null) return { added: [], removed: mappingEntries(before).filter(mayName) }
  const [old, current] = [before, after].map((mapping) => new Map(mappingEntries(mapping).filter(mayName)))
  const difference = (some: Map<string, string> | undefined, others: Map<string, string> | undefined) =>
    [...(some ?? [])].filter(([schemaKey, dataSourceKey]) => others?.get(schemaKey) !== dataSourceKey)
  return { added: difference(current, old), removed: difference(old, current) }
}
