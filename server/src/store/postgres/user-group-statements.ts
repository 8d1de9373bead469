import {
  mappingEntries,
  type MappingEntry,
  type MappingMode,
  type ResolvedEntry,
} from '../../domain/data-source/data-source.ts'
import { newEventId, type Actor } from '../../domain/audit/audit-event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { JsonText } from '../../domain/json/json-text.ts'
import type { ChangeStamp, NewToken, RotateUserGroupToken } from '../../domain/user-group/user-group-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { UserGroupChange, UserGroupKey } from '../../domain/user-group/user-group.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { Coalescer, type CoalescerOptions } from './coalescer.ts'
import type { PrimaryPool, Query, Statement } from './primary-pool.ts'
import type { UserGroupRow } from '../user-group-row.ts'
import * as sql from './user-group-sql.ts'
import type {
  EntryRow,
  IdempotencyRow,
  Positioned,
  StampedViewRow,
  SupersededTokenRow,
  TokenRow,
} from './user-group-sql.ts'

export interface Creation extends TenantScope, Actor {
  readonly providedId: string
  readonly name: string
  readonly change: UserGroupChange
  readonly mappingMode: MappingMode
  readonly token: NewToken
  readonly now: number
}

export interface Change extends TenantScope, Actor {
  readonly teamId: number
  readonly change: UserGroupChange
  readonly mappingMode: MappingMode
  readonly expectedRevision: number | null
  readonly now: number
}

export interface MappingToResolve extends TenantScope {
  readonly mapping: JsonText
}

export interface ResolvedMapping {
  readonly entries: readonly ResolvedEntry[]
  /** By which they were looked up; undefined where there are no entries. */
  readonly registryVersion: string | null | undefined
}

export interface Rotation
  extends TenantScope, Actor, Pick<RotateUserGroupToken, 'idempotency' | 'oldTokenValidUntil' | 'now'> {
  readonly teamId: number
  readonly oldHash: Uint8Array
  readonly expectedRevision: number | null
  readonly token: NewToken
}

export interface ByHash extends TenantScope {
  readonly hash: Uint8Array
}

/** A user group that was read. */
export interface Known extends TenantScope {
  readonly teamId: number
  readonly stamp: ChangeStamp
}

/** How many statements of a kind may be under way in a workspace and environment: more only makes them smaller. */
const maxInFlightOfGroup = 2
/** About as long as a statement takes where all is well, its flush to the disk included. */
const collectingMs = 5

/** The statements on user groups that many calls share. A result is null where there is no such row. */
export class UserGroupStatements {
  readonly select: Coalescer<UserGroupKey, (UserGroupRow & Positioned) | null>
  readonly selectView: Coalescer<UserGroupKey, StampedViewRow | null>
  readonly isUnchanged: Coalescer<Known, boolean>
  readonly selectByToken: Coalescer<ByHash, TokenRow | null>
  readonly selectBySupersededToken: Coalescer<ByHash, SupersededTokenRow | null>
  readonly selectIdempotencyKey: Coalescer<ByHash, IdempotencyRow | null>
  readonly resolveMapping: Coalescer<MappingToResolve, ResolvedMapping>
  /** Its team id; null where there is one already (another call made it), where its mapping is not registered and must be, or its key is retired. */
  readonly insert: Coalescer<Creation, number | null>
  readonly update: Coalescer<Change, UserGroupRow | null>
  /** Null where the token is no longer the old one, the idempotency key is in use, or the secret key is retired. */
  readonly replaceToken: Coalescer<Rotation, UserGroupRow | null>

  readonly #query: Query

  constructor(primary: PrimaryPool, observer: BatchObserver | undefined) {
    const { query } = primary
    this.#query = query
    const { reading, changing } = coalescers(primary.poolSize, observer)
    const readingBy = <Item extends TenantScope, Row extends Positioned>(
      kind: string,
      statement: Statement<Row>,
      wantedOf: (item: Item) => string | Uint8Array,
    ) =>
      reading<Item, Row | null>({
        kind,
        keysOf: (item) => {
          const wanted = wantedOf(item)
          return [typeof wanted === 'string' ? wanted : Buffer.from(wanted).toString('latin1')]
        },
        run: async (tenantScope, items) => {
          const found = new Array<Row | null>(items.length).fill(null)
          for (const row of await query(statement, [...tenantScope, items.map(wantedOf)]))
            found[row.position - 1] = row
          return found
        },
      })
    const idOf = ({ providedId }: UserGroupKey) => providedId
    this.select = readingBy('read', sql.select, idOf)
    this.selectView = readingBy('view', sql.selectView, idOf)
    this.isUnchanged = reading<Known, boolean>({
      kind: 'check_unchanged',
      keysOf: ({ teamId, stamp }) => [`${teamId}/${stamp}`],
      run: async (realm, known) => {
        const unchanged = new Array<boolean>(known.length).fill(false)
        const values = [...realm, known.map(({ teamId }) => teamId), known.map(({ stamp }) => stamp)]
        for (const { position } of await query(sql.selectUnchanged, values)) unchanged[position - 1] = true
        return unchanged
      },
    })
    this.selectByToken = readingBy('find_by_token', sql.selectByToken, hashOf)
    this.selectBySupersededToken = readingBy('find_by_replaced_token', sql.selectBySupersededToken, hashOf)
    this.selectIdempotencyKey = readingBy('find_idempotency_key', sql.selectIdempotencyKey, hashOf)

    this.resolveMapping = reading<MappingToResolve, ResolvedMapping>({
      kind: 'resolve_mapping',
      keysOf: ({ mapping }) => [mapping],
      weightOf: ({ mapping }) => mapping.length,
      run: async (realm, wanted) => {
        const mappings = wanted.map(({ mapping }) => mappingEntries(mapping))
        const { entries, registryVersion } = await this.#resolve(realm, mappings.flat())
        let end = 0
        return mappings.map(({ length }) => ({
          entries: entries.slice(end, (end += length)),
          registryVersion,
        }))
      },
    })

    this.insert = changing({
      kind: 'create',
      keysOf: ({ providedId }) => [providedId],
      weightOf: ({ change }) => lengthOf(change),
      run: async (realm, creations, sent) => {
        const made = await query(
          sql.insert,
          [
            ...realm,
            creations.map(({ providedId }) => providedId),
            creations.map(({ name }) => name),
            creations.map(({ change }) => change.mapping ?? null),
            creations.map(({ change }) => change.properties ?? null),
            creations.map(({ token }) => token.hash),
            creations.map(({ token }) => token.keyId),
            creations.map(({ token }) => token.sealed),
            creations.map(({ now }) => now),
            creations.map(checksMapping),
            creations.map(({ author }) => author),
            creations.map(eventIdOf),
            creations.map(({ requestId }) => requestId),
          ],
          sent,
        )
        return byKey(creations.map(idOf), made, ({ provided_id }) => provided_id).map(
          (row) => row?.team_id ?? null,
        )
      },
    })

    this.update = changing({
      kind: 'update',
      keysOf: ({ teamId }) => [String(teamId)],
      weightOf: ({ change }) => lengthOf(change),
      run: async (realm, changes, sent) =>
        byKey(
          changes.map(({ teamId }) => teamId),
          await query(
            sql.update,
            [
              ...realm,
              changes.map(({ teamId }) => teamId),
              changes.map(({ change }) => change.name ?? null),
              changes.map(({ change }) => change.mapping !== undefined),
              changes.map(({ change }) => change.mapping ?? null),
              changes.map(({ change }) => change.properties !== undefined),
              changes.map(({ change }) => change.properties ?? null),
              changes.map(({ now }) => now),
              changes.map(checksMapping),
              changes.map(({ author }) => author),
              changes.map(({ expectedRevision }) => expectedRevision),
              changes.map(eventIdOf),
              changes.map(({ requestId }) => requestId),
            ],
            sent,
          ),
          ({ team_id }) => team_id,
        ),
    })

    this.replaceToken = changing({
      kind: 'rotate',
      keysOf: ({ teamId, idempotency }) => [
        String(teamId),
        ...(idempotency === undefined ? [] : [hex(idempotency.keyHash)]),
      ],
      run: async (realm, rotations, sent) =>
        byKey(
          rotations.map(({ teamId }) => teamId),
          await query(
            sql.replaceToken,
            [
              ...realm,
              rotations.map(({ teamId }) => teamId),
              rotations.map(({ oldHash }) => oldHash),
              rotations.map(({ token }) => token.hash),
              rotations.map(({ token }) => token.keyId),
              rotations.map(({ token }) => token.sealed),
              rotations.map(({ now }) => now),
              rotations.map(({ oldTokenValidUntil }) => oldTokenValidUntil),
              rotations.map(({ idempotency }) => idempotency?.keyHash ?? null),
              rotations.map(({ idempotency }) => idempotency?.fingerprint ?? null),
              rotations.map(({ idempotency }) => idempotency?.expiresAt ?? null),
              Math.min(...rotations.map(({ now }) => now)),
              rotations.map(({ expectedRevision }) => expectedRevision),
              rotations.map(eventIdOf),
              rotations.map(({ author }) => author),
              rotations.map(({ requestId }) => requestId),
            ],
            sent,
          ),
          ({ team_id }) => team_id,
        ),
    })
  }

  /** Of any entries, in their order, in one statement of their own. */
  async resolveEntries(
    { workspaceId, environment }: TenantScope,
    entries: readonly MappingEntry[],
  ): Promise<readonly ResolvedEntry[]> {
    return (await this.#resolve([workspaceId, environment], entries)).entries
  }

  async #resolve(tenantScope: TenantScopeValues, entries: readonly MappingEntry[]): Promise<ResolvedMapping> {
    // Nothing has an empty provided id.
    const askable = (text: string) => (text.includes('\0') ? '' : text)
    const rows = await this.#query(sql.resolveEntry, [
      ...tenantScope,
      entries.map(([schemaKey]) => askable(schemaKey)),
      entries.map(([, key]) => askable(key)),
    ])
    const found = new Map(rows.map((row) => [row.position, row]))
    return {
      entries: entries.map(([schemaKey], i) => resolvedEntryOf(schemaKey, found.get(i + 1) as EntryRow)),
      registryVersion: rows[0]?.registry_version,
    }
  }
}

function hashOf({ hash }: ByHash): Uint8Array {
  return hash
}

function eventIdOf({ now }: Change | Creation | Rotation): string {
  return newEventId(now)
}

function checksMapping({
  change: { mapping },
  mappingMode,
}: Pick<Change, 'change' | 'mappingMode'>): boolean {
  return mappingMode === 'registered' && mapping !== undefined && mapping !== null
}

function lengthOf({ mapping, properties }: UserGroupChange): number {
  return (mapping?.length ?? 0) + (properties?.length ?? 0)
}

function resolvedEntryOf(schemaKey: string, row: EntryRow): ResolvedEntry {
  return {
    schemaKey,
    hasSchema: row.schema_id !== null,
    dataSource:
      row.data_source_id === null
        ? null
        : { id: row.data_source_id, providedId: row.provided_id, name: row.name },
  }
}

type TenantScopeValues = readonly [workspaceId: number, environment: Environment]

type Kind<Item, Result> = Pick<CoalescerOptions<Item, Result>, 'kind' | 'keysOf' | 'weightOf'> & {
  readonly run: (realm: TenantScopeValues, items: readonly Item[], sent: () => void) => Promise<Result[]>
}

/** @param maxInFlight how many statements of a kind may be under way in all workspaces and environments */
function coalescers(maxInFlight: number, observer: BatchObserver | undefined) {
  const coalescing = <Item extends TenantScope, Result>(
    sameKey: 'share' | 'wait',
    { run, ...kind }: Kind<Item, Result>,
  ) =>
    new Coalescer<Item, Result>({
      groupOf: ({ workspaceId, environment }) => `${workspaceId}/${environment}`,
      ...kind,
      observer,
      sameKey,
      run: (items, sent) => {
        const { workspaceId, environment } = items[0] as Item
        return run([workspaceId, environment], items, sent)
      },
      maxInFlightOfGroup,
      maxInFlight,
      collectingMs,
    })
  return {
    /** Calls that read the same share the result. */
    reading: <Item extends TenantScope, Result>(kind: Kind<Item, Result>) => coalescing('share', kind),
    /** Calls that change the same go one after another. */
    changing: <Item extends TenantScope, Result>(kind: Kind<Item, Result>) => coalescing('wait', kind),
  }
}

function byKey<Key, Row>(
  wanted: readonly Key[],
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): (Row | null)[] {
  const found = new Map(rows.map((row) => [keyOf(row), row]))
  return wanted.map((key) => found.get(key) ?? null)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
