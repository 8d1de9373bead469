import { newEventId, type Actor } from '../../domain/audit/audit-event.ts'
import type { MappingEntry } from '../../domain/data-source/data-source.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type {
  Creation,
  decideChange,
  Rotation,
  Transition,
  UserGroupEvent,
} from '../../domain/user-group/decisions.ts'
import type {
  ChangeStamp,
  RotateUserGroupToken,
  UpdateOutcome,
} from '../../domain/user-group/user-group-store.ts'
import type { UserGroup, UserGroupKey } from '../../domain/user-group/user-group.ts'
import { userGroupOf, type IdempotencyRow, type UserGroupRow } from '../user-group-row.ts'
import type { Coalescer } from './coalescer.ts'
import type { Mappings } from './mappings.ts'
import type { PrimaryPool, Query, Statement } from './primary-pool.ts'
import type { ScopedCoalescers, ScopeValues } from './scoped-coalescer.ts'
import * as sql from './user-group-sql.ts'
import type { Positioned, StampedViewRow, SupersededTokenRow, TokenRow } from './user-group-sql.ts'

interface Written extends TenantScope, Actor {
  readonly now: number
}

export interface CreationItem extends Written {
  readonly creation: Creation
  readonly registryVersion: string | null
}

/** A transition to apply, or an outcome that writes nothing. */
type ChangeDecision = UpdateOutcome | ReturnType<typeof decideChange>

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

export interface ByHash extends TenantScope {
  readonly hash: Uint8Array
}

interface StampedUserGroup extends TenantScope {
  readonly teamId: number
  readonly stamp: ChangeStamp
}

/** The coalesced statements on user groups. A result is null if there is no such row. */
export class UserGroupStatements {
  readonly select: Coalescer<UserGroupKey, (UserGroupRow & Positioned) | null>
  readonly selectView: Coalescer<UserGroupKey, StampedViewRow | null>
  readonly isUnchanged: Coalescer<StampedUserGroup, boolean>
  readonly selectByToken: Coalescer<ByHash, TokenRow | null>
  readonly selectBySupersededToken: Coalescer<ByHash, SupersededTokenRow | null>
  readonly selectIdempotencyKey: Coalescer<ByHash, (IdempotencyRow & Positioned) | null>
  /** Returns the team id. Null if the user group exists, the registry changed, or the secret key is retired. */
  readonly insert: Coalescer<CreationItem, number | null>
  /** Loads, decides and applies changes. Null if the user group changed in between: the operation must start over. */
  readonly change: Coalescer<ChangeItem, UpdateOutcome | null>
  /** Returns the name at the rotation. Null if the token, the idempotency key or the secret key is no longer usable. */
  readonly replaceToken: Coalescer<RotationItem, string | null>

  readonly #query: PrimaryPool['query']
  readonly #mappings: Mappings

  constructor(primary: PrimaryPool, coalescers: ScopedCoalescers, mappings: Mappings) {
    const { query } = primary
    this.#query = query
    this.#mappings = mappings
    const readingBy = <Item extends TenantScope, Row extends Positioned>(
      kind: string,
      statement: Statement<Row>,
      wantedOf: (item: Item) => string | Uint8Array,
    ) =>
      coalescers.reading<Item, Row | null>({
        kind,
        keysOf: (item) => {
          const wanted = wantedOf(item)
          return [typeof wanted === 'string' ? wanted : Buffer.from(wanted).toString('latin1')]
        },
        run: (scope, items) => selectEach(query, statement, scope, items.map(wantedOf)),
      })
    this.select = readingBy<UserGroupKey, UserGroupRow & Positioned>('read', sql.select, idOf)
    this.selectView = readingBy<UserGroupKey, StampedViewRow>('view', sql.selectView, idOf)
    this.selectByToken = readingBy('find_by_token', sql.selectByToken, hashOf)
    this.selectBySupersededToken = readingBy('find_by_replaced_token', sql.selectBySupersededToken, hashOf)
    this.selectIdempotencyKey = readingBy('find_idempotency_key', sql.selectIdempotencyKey, hashOf)
    this.isUnchanged = coalescers.reading<StampedUserGroup, boolean>({
      kind: 'check_unchanged',
      keysOf: ({ teamId, stamp }) => [`${teamId}/${stamp}`],
      run: async (scope, items) => {
        const unchanged = new Array<boolean>(items.length).fill(false)
        const values = [...scope, items.map(({ teamId }) => teamId), items.map(({ stamp }) => stamp)]
        for (const { position } of await query(sql.selectUnchanged, values)) unchanged[position - 1] = true
        return unchanged
      },
    })
    this.insert = coalescers.changing<CreationItem, number | null>({
      kind: 'create',
      keysOf: ({ creation }) => [creation.userGroup.providedId],
      weightOf: ({ creation: { userGroup } }) =>
        (userGroup.mapping?.length ?? 0) + (userGroup.properties?.length ?? 0),
      run: async (scope, items, sent) => {
        const rows = await query(sql.insert, [...scope, ...creationArrays(items)], sent)
        const teamIds = new Map(rows.map((row) => [row.provided_id, row.team_id]))
        return items.map(({ creation }) => teamIds.get(creation.userGroup.providedId) ?? null)
      },
    })
    this.change = coalescers.serializing<ChangeItem, UpdateOutcome | null>({
      kind: 'update',
      keysOf: ({ providedId }) => [providedId],
      weightOf: ({ weight }) => weight,
      run: (scope, items, sent) => this.#change(scope, items, sent),
    })
    this.replaceToken = coalescers.changing<RotationItem, string | null>({
      kind: 'rotate',
      keysOf: ({ rotation, idempotency }) => [
        String(rotation.userGroup.teamId),
        ...(idempotency === undefined ? [] : [hex(idempotency.keyHash)]),
      ],
      run: async (scope, items, sent) => {
        const rows = await query(sql.replaceToken, [...scope, ...rotationArrays(items)], sent)
        const names = new Map(rows.map((row) => [row.team_id, row.name]))
        return items.map(({ rotation }) => names.get(rotation.userGroup.teamId) ?? null)
      },
    })
  }

  async #change(
    scope: ScopeValues,
    items: readonly ChangeItem[],
    sent: () => void,
  ): Promise<(UpdateOutcome | null)[]> {
    const [workspaceId, environment] = scope
    const rows = await selectEach(this.#query, sql.select, scope, items.map(idOf))
    const decisions = items.map(({ decide }, i) => {
      const row = rows[i]
      return decide(row ? userGroupOf({ workspaceId, environment }, row) : null)
    })
    const checks = await this.#mappings.checkAll(
      scope,
      decisions.map((decision) => ('to' in decision ? decision.mappingToCheck : null)),
    )
    const changes = items.flatMap((item, i) => {
      const decision = decisions[i]
      const isRefused = (checks[i]?.refusal ?? null) !== null
      return decision && 'to' in decision && !isRefused ? [{ ...item, transition: decision }] : []
    })
    const version = checks.find(({ registryVersion }) => registryVersion !== null)?.registryVersion ?? null
    const applied =
      changes.length === 0
        ? []
        : await this.#query(sql.update, [...scope, ...changeArrays(changes), version], sent)
    const teamIds = new Set(applied.map(({ team_id }) => team_id))
    return decisions.map((decision, i) => {
      if (!('to' in decision)) return decision
      const { to } = decision
      return checks[i]?.refusal ?? (teamIds.has(to.teamId) ? { outcome: 'updated', userGroup: to } : null)
    })
  }
}

async function selectEach<Row extends Positioned>(
  query: Query,
  statement: Statement<Row>,
  scope: ScopeValues,
  wanted: readonly (string | Uint8Array)[],
): Promise<(Row | null)[]> {
  const found = new Array<Row | null>(wanted.length).fill(null)
  for (const row of await query(statement, [...scope, wanted])) found[row.position - 1] = row
  return found
}

function creationArrays(items: readonly CreationItem[]): unknown[] {
  const groups = items.map(({ creation }) => creation.userGroup)
  return [
    groups.map(({ providedId }) => providedId),
    groups.map(({ name }) => name),
    groups.map(({ mapping }) => mapping),
    groups.map(({ properties }) => properties),
    items.map(({ creation }) => creation.tokenHash),
    groups.map(({ token }) => token.keyId),
    groups.map(({ token }) => token.sealed),
    groups.map(({ createdAt }) => createdAt),
    items.map(({ registryVersion }) => registryVersion),
    items.map(({ creation }) => entriesText(creation.entries.added)),
    ...eventArrays(items, ({ creation }) => creation.event),
  ]
}

function changeArrays(items: readonly (Written & { readonly transition: Transition })[]): unknown[] {
  const changes = items.map(({ transition }) => transition)
  const setsMapping = changes.map(({ from, to }) => from.mapping !== to.mapping)
  const setsProperties = changes.map(({ from, to }) => from.properties !== to.properties)
  return [
    changes.map(({ to }) => to.teamId),
    changes.map(({ from }) => from.revision),
    changes.map(({ from }) => from.updatedAt),
    changes.map(({ to }) => to.name),
    setsMapping,
    changes.map(({ to }, i) => (setsMapping[i] ? to.mapping : null)),
    setsProperties,
    changes.map(({ to }, i) => (setsProperties[i] ? to.properties : null)),
    changes.map(({ to }) => to.updatedAt),
    changes.map(({ to }) => to.updatedBy),
    changes.map(({ to }) => to.suspendedAt),
    changes.map(({ version }) => version !== null),
    changes.map(({ entries }) => entriesText(entries.added)),
    changes.map(({ entries }) => entriesText(entries.removed)),
    ...eventArrays(items, ({ transition }) => transition.event),
  ]
}

function rotationArrays(items: readonly RotationItem[]): unknown[] {
  const rotations = items.map(({ rotation }) => rotation)
  return [
    rotations.map(({ userGroup }) => userGroup.teamId),
    rotations.map(({ supersededToken }) => supersededToken.hash),
    rotations.map(({ token }) => token.hash),
    rotations.map(({ token }) => token.keyId),
    rotations.map(({ token }) => token.sealed),
    rotations.map(({ supersededToken }) => supersededToken.supersededAt),
    rotations.map(({ supersededToken }) => supersededToken.validUntil),
    items.map(({ idempotency }) => idempotency?.keyHash ?? null),
    items.map(({ idempotency }) => idempotency?.fingerprint ?? null),
    items.map(({ idempotency }) => idempotency?.expiresAt ?? null),
    Math.min(...items.map(({ now }) => now)),
    rotations.map(({ supersededToken }) => supersededToken.issuedAt),
    items.map(({ expectedRevision }) => expectedRevision),
    ...eventArrays(items, ({ rotation }) => rotation.event),
  ]
}

/** The columns event_id, action, author, request_id and details of one audit event per item. */
function eventArrays<Item extends Written>(
  items: readonly Item[],
  eventOf: (item: Item) => UserGroupEvent,
): unknown[] {
  const events = items.map(eventOf)
  return [
    items.map(({ now }) => newEventId(now)),
    events.map(({ action }) => action),
    items.map(({ author }) => author),
    items.map(({ requestId }) => requestId),
    events.map(({ details }) => details && JSON.stringify(details)),
  ]
}

/** Mapping entries as a JSON object; null if there are none. */
function entriesText(entries: readonly MappingEntry[]): string | null {
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries))
}

function idOf({ providedId }: Pick<UserGroupKey, 'providedId'>): string {
  return providedId
}

function hashOf({ hash }: ByHash): Uint8Array {
  return hash
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
