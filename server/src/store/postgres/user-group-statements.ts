import { newEventId, type Actor } from '../../domain/audit/audit-event.ts'
import type { MappingEntry } from '../../domain/data-source/data-source.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import {
  revisionsKept,
  type Creation,
  type decideChange,
  type Rotation,
  type Transition,
  type UserGroupEvent,
} from '../../domain/user-group/decisions.ts'
import { bucketOf, type UserGroupLocation } from '../../domain/user-group/location.ts'
import type {
  ChangeStamp,
  NewToken,
  RotateUserGroupToken,
  TokenReference,
  UpdateOutcome,
} from '../../domain/user-group/user-group-store.ts'
import type { TokenlessUserGroup, UserGroup, UserGroupKey } from '../../domain/user-group/user-group.ts'
import {
  changedColumns,
  columnValue,
  userGroupOf,
  versionColumns,
  type Column,
  type IdempotencyRow,
  type PropertyOf,
  type UserGroupRow,
} from '../user-group-row.ts'
import type { Coalescer } from './coalescer.ts'
import type { Mappings } from './mappings.ts'
import type { PrimaryPool, Query, Statement } from './primary-pool.ts'
import type { Bucketed, ScopedCoalescers, ScopeValues } from './scoped-coalescer.ts'
import * as sql from './user-group-sql.ts'
import type { Positioned, StampedViewRow, TokenRow } from './user-group-sql.ts'

/** The team id of a new user group, and the token that was issued for it. */
export interface IssuedToken {
  readonly teamId: number
  readonly token: NewToken
}

interface Written extends Bucketed, Actor {
  readonly now: number
}

export interface CreationItem extends Written {
  readonly creation: Creation
  readonly registryVersion: string | null
}

/** A transition to apply, or an outcome that writes nothing. */
export type ChangeDecision = UpdateOutcome | ReturnType<typeof decideChange>

export interface ChangeItem extends Written {
  readonly providedId: string
  /** Length of the texts that the change writes. */
  readonly weight: number
  readonly decide: (current: UserGroup | null) => ChangeDecision
}

export interface RotationItem
  extends Written, Pick<RotateUserGroupToken, 'idempotency' | 'oldTokenValidUntil'> {
  readonly rotation: Rotation
  readonly expectedRevision: number | null
}

interface TransitionItem extends Written {
  readonly transition: Transition
}

/** A call of a function for items, with one team id and one event each. */
interface Write {
  readonly statement: sql.Call<{ readonly team_id: number }, string>
  readonly teamIds: readonly number[]
  readonly events: readonly UserGroupEvent[]
  /** Values of the parameters that not all functions have. */
  readonly columns: Readonly<Record<string, unknown>>
}

type ByToken = TenantScope & TokenReference

interface StampedUserGroup extends TenantScope, UserGroupLocation {
  readonly stamp: ChangeStamp
}

/** The coalesced statements on user groups. A result is null if there is no such row. */
export class UserGroupStatements {
  readonly select: Coalescer<UserGroupKey & Bucketed, (UserGroupRow & Positioned) | null>
  readonly selectView: Coalescer<UserGroupKey & Bucketed, StampedViewRow | null>
  readonly isUnchanged: Coalescer<StampedUserGroup, boolean>
  /** Finds the user group that a token's locator names. The token may be wrong: the caller compares hashes. */
  readonly selectByToken: Coalescer<ByToken, TokenRow | null>
  readonly selectIdempotencyKey: Coalescer<ByToken, (IdempotencyRow & Positioned) | null>
  /** Returns whether it was created. False if the user group exists, the registry changed, or the secret key is retired. */
  readonly create: Coalescer<CreationItem, boolean>
  /** Loads, decides and applies changes. Null if the user group changed in between: the operation must start over. */
  readonly change: Coalescer<ChangeItem, UpdateOutcome | null>
  /** Returns whether it was replaced. False if the token, the name or the secret key has changed. */
  readonly replaceToken: Coalescer<RotationItem, boolean>

  readonly #primary: PrimaryPool
  readonly #mappings: Mappings

  constructor(primary: PrimaryPool, coalescers: ScopedCoalescers, mappings: Mappings) {
    const { query } = primary
    this.#primary = primary
    this.#mappings = mappings
    this.select = coalescers.reading<UserGroupKey & Bucketed, (UserGroupRow & Positioned) | null>({
      kind: 'read',
      keysOf: ({ providedId }) => [providedId],
      run: (scope, items) => selectUserGroups(query, scope, items),
    })
    this.selectView = coalescers.reading<UserGroupKey & Bucketed, StampedViewRow | null>({
      kind: 'view',
      keysOf: ({ providedId }) => [providedId],
      run: async (scope, items) =>
        byPosition(items, await query(sql.selectView, [...scope, ...keyArrays(items)])),
    })
    this.isUnchanged = coalescers.reading<StampedUserGroup, boolean>({
      kind: 'check_unchanged',
      keysOf: ({ teamId, stamp }) => [`${teamId}/${stamp}`],
      run: async (scope, items) => {
        const values = [...scope, ...locationArrays(items), items.map(({ stamp }) => stamp)]
        return byPosition(items, await query(sql.selectChanged, values)).map((row) => row === null)
      },
    })
    const byHash = <Row extends Positioned>(kind: string, statement: Statement<Row>) =>
      coalescers.reading<ByToken, Row | null>({
        kind,
        keysOf: ({ teamId, hash }) => [`${teamId}/${latin1(hash)}`],
        run: async (scope, items) => {
          const values = [...scope, ...locationArrays(items), items.map(({ hash }) => hash)]
          return byPosition(items, await query(statement, values))
        },
      })
    this.selectByToken = byHash('find_by_token', sql.selectByToken)
    this.selectIdempotencyKey = byHash('find_idempotency_key', sql.selectIdempotencyKey)
    this.create = coalescers.changing<CreationItem, boolean>({
      kind: 'create',
      keysOf: ({ creation }) => [creation.userGroup.providedId],
      weightOf: ({ creation: { userGroup } }) =>
        (userGroup.mapping?.length ?? 0) + (userGroup.properties?.length ?? 0),
      run: async (scope, items, sent) => {
        const written = await this.#write(scope, items, creationsOf(items), sent)
        return items.map(({ creation }) => written.has(creation.userGroup.teamId))
      },
    })
    this.change = coalescers.serializing<ChangeItem, UpdateOutcome | null>({
      kind: 'update',
      keysOf: ({ providedId }) => [providedId],
      weightOf: ({ weight }) => weight,
      run: (scope, items, sent) => this.#change(scope, items, sent),
    })
    this.replaceToken = coalescers.changing<RotationItem, boolean>({
      kind: 'rotate',
      keysOf: (item) => [String(teamIdOf(item))],
      run: async (scope, items, sent) => {
        const sorted = items.toSorted((a, b) => teamIdOf(a) - teamIdOf(b))
        const written = await this.#write(scope, sorted, rotationsOf(sorted), sent)
        return items.map((item) => written.has(teamIdOf(item)))
      },
    })
  }

  async #change(
    scope: ScopeValues,
    items: readonly ChangeItem[],
    sent: () => void,
  ): Promise<(UpdateOutcome | null)[]> {
    const [workspaceId, environment] = scope
    const rows = await selectUserGroups(this.#primary.query, scope, items)
    const decisions = items.map(({ decide }, i) => {
      const row = rows[i]
      return decide(row ? userGroupOf({ workspaceId, environment }, row) : null)
    })
    const checks = await this.#mappings.checkAll(
      { workspaceId, environment },
      decisions.map((decision) => ('to' in decision ? decision.mappingToCheck : null)),
    )
    const changes = items.flatMap((item, i) => {
      const decision = decisions[i]
      const isRefused = (checks[i]?.refusal ?? null) !== null
      return decision && 'to' in decision && !isRefused ? [{ ...item, transition: decision }] : []
    })
    changes.sort((a, b) => a.transition.to.teamId - b.transition.to.teamId)
    const version = checks.find(({ registryVersion }) => registryVersion !== null)?.registryVersion ?? null
    const written =
      changes.length === 0 ? new Set() : await this.#write(scope, changes, changesOf(changes, version), sent)
    if (written.size < changes.length) this.#mappings.forget({ workspaceId, environment })
    return decisions.map((decision, i) => {
      if (!('to' in decision)) return decision
      const { to } = decision
      return checks[i]?.refusal ?? (written.has(to.teamId) ? { outcome: 'updated', userGroup: to } : null)
    })
  }

  /** Writes the items and their events, and returns the team ids of those that had not changed. */
  async #write(
    scope: ScopeValues,
    items: readonly Written[],
    { statement, teamIds, events, columns }: Write,
    sent: () => void,
  ): Promise<Set<number>> {
    const [workspaceId, environment, bucket] = scope
    const eventIds = items.map(({ now }) => newEventId(now))
    const rows = await this.#primary.query(
      statement,
      callValues(statement, bucket, {
        workspace_id: workspaceId,
        environment,
        buckets: items.map((item) => item.bucket),
        team_ids: teamIds,
        event_ids: eventIds,
        actions: events.map(({ action }) => action),
        authors: items.map(({ author }) => author),
        request_ids: items.map(({ requestId }) => requestId),
        details: events.map(({ details }) => details && JSON.stringify(details)),
        ...columns,
      }),
      sent,
    )
    const written = new Set(rows.map(({ team_id }) => team_id))
    const eventId = eventIds[teamIds.findIndex((teamId) => written.has(teamId))]
    if (eventId !== undefined) this.#primary.acknowledge({ workspaceId, environment, eventId })
    return written
  }
}

async function selectUserGroups(
  query: Query,
  scope: ScopeValues,
  items: readonly (Bucketed & Pick<UserGroupKey, 'providedId'>)[],
): Promise<((UserGroupRow & Positioned) | null)[]> {
  return byPosition(items, await query(sql.select, [...scope, ...keyArrays(items)]))
}

function byPosition<Row extends Positioned>(items: readonly unknown[], rows: readonly Row[]): (Row | null)[] {
  const found = new Array<Row | null>(items.length).fill(null)
  for (const row of rows) found[row.position - 1] = row
  return found
}

function keyArrays(items: readonly (Bucketed & Pick<UserGroupKey, 'providedId'>)[]): unknown[] {
  return [items.map(({ bucket }) => bucket), items.map(({ providedId }) => providedId)]
}

function locationArrays(items: readonly UserGroupLocation[]): unknown[] {
  return [items.map(({ bucket }) => bucket), items.map(({ teamId }) => teamId)]
}

function writeOf<Parameter extends string>(
  statement: sql.Call<{ readonly team_id: number }, Parameter>,
  teamIds: readonly number[],
  events: readonly UserGroupEvent[],
  columns: Readonly<Record<Exclude<Parameter, sql.ItemParameter>, unknown>>,
): Write {
  return { statement, teamIds, events, columns }
}

function creationsOf(items: readonly CreationItem[]): Write {
  const groups = items.map(({ creation }) => creation.userGroup)
  const teamIds = groups.map(({ teamId }) => teamId)
  const events = items.map(({ creation }) => creation.event)
  return writeOf(sql.create, teamIds, events, {
    provided_ids: groups.map(({ providedId }) => providedId),
    names: groups.map(({ name }) => name),
    mappings: groups.map(({ mapping }) => mapping),
    properties: groups.map(({ properties }) => properties),
    token_hashes: items.map(({ creation }) => creation.tokenHash),
    token_key_ids: groups.map(({ token }) => token.keyId),
    tokens_sealed: groups.map(({ token }) => token.sealed),
    times: groups.map(({ createdAt }) => createdAt),
    registry_versions: unlessAllNull(items.map(({ registryVersion }) => registryVersion)),
    entries: items.map(({ creation }) => entriesText(creation.entries.added)),
  })
}

function changesOf(items: readonly TransitionItem[], registryVersion: string | null): Write {
  const changes = items.map(({ transition }) => transition)
  const setsMapping = changes.map(({ from, to }) => from.mapping !== to.mapping)
  const setsProperties = changes.map(({ from, to }) => from.properties !== to.properties)
  const versions = changes.map(({ version }) => version)
  const teamIds = changes.map(({ to }) => to.teamId)
  const events = changes.map(({ event }) => event)
  return writeOf(sql.change, teamIds, events, {
    provided_ids: changes.map(({ to }) => to.providedId),
    old_revisions: changes.map(({ from }) => from.revision),
    old_times: changes.map(({ from }) => from.updatedAt),
    sets_mapping: setsMapping,
    sets_properties: setsProperties,
    ...columnArrays(
      'new',
      changedColumns,
      changes.map(({ to }) => to),
    ),
    ...columnArrays('version', versionColumns, versions),
    // Unchanged texts are not sent: they may be long.
    new_mapping: changes.map(({ to }, i) => (setsMapping[i] ? to.mapping : null)),
    new_properties: changes.map(({ to }, i) => (setsProperties[i] ? to.properties : null)),
    dropped_revisions: unlessAllNull(
      changes.map(({ from, version }) =>
        version !== null && from.revision > revisionsKept ? from.revision - revisionsKept : null,
      ),
    ),
    added: unlessAllNull(changes.map(({ entries }) => entriesText(entries.added))),
    removed: unlessAllNull(changes.map(({ entries }) => entriesText(entries.removed))),
    ended_subjects: unlessAllNull(changes.map(({ ended }) => ended?.subject ?? null)),
    ended_at: changes.map(({ ended }) => ended?.endedAt ?? null),
    registry_version: registryVersion,
  })
}

/** Returns an array for each column, with one value for each version. */
function columnArrays<Prefix extends string, Name extends Column>(
  prefix: Prefix,
  columns: readonly Name[],
  versions: readonly (Pick<TokenlessUserGroup, PropertyOf<Name>> | null)[],
) {
  const arrayOf = (column: Name) => versions.map((version) => version && columnValue(version, column))
  return Object.fromEntries(columns.map((column) => [`${prefix}_${column}`, arrayOf(column)])) as Record<
    `${Prefix}_${Name}`,
    unknown[]
  >
}

function teamIdOf({ rotation }: RotationItem): number {
  return rotation.userGroup.teamId
}

function rotationsOf(items: readonly RotationItem[]): Write {
  const rotations = items.map(({ rotation }) => rotation)
  const events = rotations.map(({ event }) => event)
  return writeOf(sql.replaceToken, items.map(teamIdOf), events, {
    provided_ids: rotations.map(({ userGroup }) => userGroup.providedId),
    names: rotations.map(({ userGroup }) => userGroup.name),
    old_hashes: rotations.map(({ supersededToken }) => supersededToken.hash),
    old_issue_times: rotations.map(({ supersededToken }) => supersededToken.issuedAt),
    old_valid_until: rotations.map(({ supersededToken }) => supersededToken.validUntil),
    expected_revisions: items.map(({ expectedRevision }) => expectedRevision),
    token_hashes: rotations.map(({ token }) => token.hash),
    token_key_ids: rotations.map(({ token }) => token.keyId),
    tokens_sealed: rotations.map(({ token }) => token.sealed),
    times: rotations.map(({ supersededToken }) => supersededToken.supersededAt),
    key_hashes: unlessAllNull(items.map(({ idempotency }) => idempotency?.keyHash ?? null)),
    fingerprints: items.map(({ idempotency }) => idempotency?.fingerprint ?? null),
    key_expiry_times: items.map(({ idempotency }) => idempotency?.expiresAt ?? null),
  })
}

/** The functions skip a step whose array is null. */
function unlessAllNull<Value>(values: readonly (Value | null)[]): readonly (Value | null)[] | null {
  return values.every((value) => value === null) ? null : values
}

/** Mapping entries as a JSON object; null if there are none. */
export function entriesText(entries: readonly MappingEntry[]): string | null {
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries))
}

export function withBucket(key: UserGroupKey): UserGroupKey & Bucketed {
  const { workspaceId, environment, providedId } = key
  return { workspaceId, environment, providedId, bucket: bucketOf(key) }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** Parameters of the functions that write one user group: its id and an audit event. */
export function eventValues(
  providedId: string | undefined,
  { author, requestId, now }: Actor & { readonly now: number },
  { action, details }: UserGroupEvent,
) {
  return {
    provided_id: providedId,
    event_id: newEventId(now),
    action,
    author,
    request_id: requestId,
    details: details && JSON.stringify(details),
  }
}

/** Returns the values of a call in the order of its parameters. */
export function callValues<Parameter extends string>(
  { parameters }: sql.Call<unknown, Parameter>,
  bucket: number | null,
  values: Readonly<Record<Parameter, unknown>>,
): unknown[] {
  return [bucket, ...parameters.map((name) => values[name])]
}
