import type { Environment } from '../../domain/environment.ts'
import type { MintedToken, RotateUserGroupToken } from '../../domain/store.ts'
import type { UserGroupChange, UserGroupKey } from '../../domain/user-group.ts'
import { Coalescer, type CoalescerOptions } from './coalescer.ts'
import type { Primary, Statement } from './primary.ts'

/** What one statement serves: each is about one workspace, so that a distributed database sends it to one place. */
export interface Realm {
  readonly workspaceId: number
  readonly environment: Environment
}

export interface UserGroupRow {
  readonly team_id: number
  readonly provided_id: string
  readonly name: string
  readonly mapping: string | null
  readonly properties: string | null
  readonly token_hash: Uint8Array
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
  readonly token_issued_at: number
  readonly created_at: number
  readonly updated_at: number
}

/** `valid_until` is null where the token is the current one. */
export type TokenRow = UserGroupRow & { readonly valid_until: number | null }

export type IdempotencyRow = Pick<
  UserGroupRow,
  'team_id' | 'provided_id' | 'name' | 'token_key_id' | 'token_sealed'
> & { readonly key_hash: Uint8Array; readonly fingerprint: Uint8Array; readonly expires_at: number }

export interface Creation extends Realm {
  readonly providedId: string
  readonly name: string
  readonly change: UserGroupChange
  readonly token: MintedToken
  readonly now: number
}

export interface Change extends Realm {
  readonly teamId: number
  readonly change: UserGroupChange
  readonly now: number
}

export interface Rotation
  extends Realm, Pick<RotateUserGroupToken, 'idempotency' | 'oldTokenValidUntil' | 'now'> {
  readonly row: UserGroupRow
  readonly token: MintedToken
}

export interface ByHash extends Realm {
  readonly hash: Uint8Array
}

const columns = [
  'team_id',
  'provided_id',
  'name',
  'mapping',
  'properties',
  'token_hash',
  'token_key_id',
  'token_sealed',
  'token_issued_at',
  'created_at',
  'updated_at',
]
  .map((column) => `user_group.${column}`)
  .join(', ')

// Keys are looked up one by one: LIMIT and FOR UPDATE keep a subquery from being made into a join, for which PostgreSQL,
// while it has no statistics of a new table, would rather read all rows of a workspace.
const select: Statement<UserGroupRow> = {
  name: 'user_group_select',
  text: `SELECT ${columns}
         FROM unnest($3::text[]) AS wanted (provided_id)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group
           WHERE workspace_id = $1 AND environment = $2 AND provided_id = wanted.provided_id
           LIMIT 1
         ) AS user_group`,
}

const selectByToken: Statement<TokenRow & { readonly wanted_hash: Uint8Array }> = {
  name: 'user_group_select_by_token',
  text: `SELECT wanted.token_hash AS wanted_hash, NULL::bigint AS valid_until, ${columns}
         FROM unnest($3::bytea[]) AS wanted (token_hash)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group WHERE workspace_id = $1 AND token_hash = wanted.token_hash LIMIT 1
         ) AS user_group
         WHERE environment = $2
         UNION ALL
         SELECT wanted.token_hash, superseded_token.valid_until, ${columns}
         FROM unnest($3::bytea[]) AS wanted (token_hash)
         CROSS JOIN LATERAL (
           SELECT * FROM superseded_token WHERE workspace_id = $1 AND token_hash = wanted.token_hash LIMIT 1
         ) AS superseded_token
         CROSS JOIN LATERAL (
           SELECT * FROM user_group WHERE workspace_id = $1 AND team_id = superseded_token.team_id LIMIT 1
         ) AS user_group
         WHERE environment = $2`,
}

const selectIdempotencyKey: Statement<IdempotencyRow> = {
  name: 'idempotency_key_select',
  text: `SELECT idempotency_key.*
         FROM unnest($3::bytea[]) AS wanted (key_hash)
         CROSS JOIN LATERAL (
           SELECT * FROM idempotency_key
           WHERE workspace_id = $1 AND environment = $2 AND key_hash = wanted.key_hash
           LIMIT 1
         ) AS idempotency_key`,
}

// The order in which rows are inserted and locked is the same in every statement, so that no two wait for each other.
const insert: Statement<Pick<UserGroupRow, 'team_id' | 'provided_id'>> = {
  name: 'user_group_insert',
  text: `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, properties,
                                 token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at)
         SELECT $1, $2, new.provided_id, new.name, new.mapping, new.properties,
                new.token_hash, new.token_key_id, new.token_sealed, new.now, new.now, new.now
         FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::bytea[], $10::bigint[])
           AS new (provided_id, name, mapping, properties, token_hash, token_key_id, token_sealed, now)
         ORDER BY new.provided_id COLLATE "C"
         ON CONFLICT (workspace_id, environment, provided_id) DO NOTHING
         RETURNING team_id, provided_id`,
}

const update: Statement<UserGroupRow> = {
  name: 'user_group_update',
  text: `WITH change AS (
           SELECT * FROM unnest($2::bigint[], $3::text[], $4::boolean[], $5::text[], $6::boolean[], $7::text[], $8::bigint[])
             AS change (team_id, name, sets_mapping, mapping, sets_properties, properties, now)
         ), locked AS (
           SELECT change.*, user_group.workspace_id
           FROM (SELECT * FROM change ORDER BY team_id) AS change
           CROSS JOIN LATERAL (
             SELECT workspace_id FROM user_group WHERE workspace_id = $1 AND team_id = change.team_id FOR UPDATE
           ) AS user_group
         )
         UPDATE user_group
         SET name = coalesce(locked.name, user_group.name),
             mapping = CASE WHEN locked.sets_mapping THEN locked.mapping ELSE user_group.mapping END,
             properties = CASE WHEN locked.sets_properties THEN locked.properties ELSE user_group.properties END,
             updated_at = locked.now
         FROM locked
         WHERE user_group.workspace_id = locked.workspace_id AND user_group.team_id = locked.team_id
         RETURNING ${columns}`,
}

// A rotation happens where the token is still the one that it was asked for, and its idempotency key is not in use; the
// token, its record as superseded and the record of the answer are one statement, and so one transaction.
const replaceToken: Statement<UserGroupRow> = {
  name: 'user_group_replace_token',
  text: `WITH rotation AS (
           SELECT * FROM unnest($3::bigint[], $4::bytea[], $5::bytea[], $6::text[], $7::bytea[], $8::bigint[], $9::bigint[],
                                $10::bytea[], $11::bytea[], $12::bigint[])
             AS rotation (team_id, old_hash, token_hash, token_key_id, token_sealed, now, old_valid_until,
                          key_hash, fingerprint, key_expires_at)
         ), locked AS (
           SELECT rotation.*, user_group.*
           FROM (SELECT * FROM rotation ORDER BY team_id) AS rotation
           CROSS JOIN LATERAL (
             SELECT workspace_id, provided_id, name, token_issued_at AS old_issued_at
             FROM user_group
             WHERE workspace_id = $1 AND team_id = rotation.team_id AND token_hash = rotation.old_hash
             FOR UPDATE
           ) AS user_group
         ), kept AS (
           INSERT INTO idempotency_key (workspace_id, environment, key_hash, fingerprint, team_id, provided_id, name,
                                        token_key_id, token_sealed, expires_at)
           SELECT $1, $2, key_hash, fingerprint, team_id, provided_id, name, token_key_id, token_sealed, key_expires_at
           FROM locked WHERE key_hash IS NOT NULL ORDER BY key_hash
           ON CONFLICT (workspace_id, environment, key_hash) DO UPDATE
           SET fingerprint = excluded.fingerprint, team_id = excluded.team_id, provided_id = excluded.provided_id,
               name = excluded.name, token_key_id = excluded.token_key_id, token_sealed = excluded.token_sealed,
               expires_at = excluded.expires_at
           WHERE idempotency_key.expires_at
                 <= (SELECT now FROM locked WHERE locked.key_hash = idempotency_key.key_hash)
           RETURNING key_hash
         ), allowed AS (
           SELECT * FROM locked WHERE key_hash IS NULL OR key_hash IN (SELECT key_hash FROM kept)
         ), superseded AS (
           INSERT INTO superseded_token (workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
           SELECT $1, old_hash, team_id, old_issued_at, now, old_valid_until FROM allowed
         )
         UPDATE user_group
         SET token_hash = allowed.token_hash, token_key_id = allowed.token_key_id, token_sealed = allowed.token_sealed,
             token_issued_at = allowed.now
         FROM allowed
         WHERE user_group.workspace_id = allowed.workspace_id AND user_group.team_id = allowed.team_id
         RETURNING ${columns}`,
}

/** Of one call alone: a page of the list. */
export const selectPage: Statement<UserGroupRow> = {
  name: 'user_group_select_page',
  text: `SELECT ${columns} FROM user_group WHERE workspace_id = $1 AND environment = $2 AND provided_id > $3
         ORDER BY provided_id LIMIT $4`,
}

/** How many statements of a kind may be under way: more only makes them smaller. */
const maxInFlight = 2

/** The statements on user groups that many calls share. A result is null where there is no such row. */
export class UserGroupStatements {
  readonly select: Coalescer<UserGroupKey, UserGroupRow | null>
  readonly selectByToken: Coalescer<ByHash, TokenRow | null>
  readonly selectIdempotencyKey: Coalescer<ByHash, IdempotencyRow | null>
  /** Null where there is one already: another call made it. */
  readonly insert: Coalescer<Creation, UserGroupRow | null>
  readonly update: Coalescer<Change, UserGroupRow | null>
  /** Null where the token is no longer that of `row`, or the idempotency key is in use. */
  readonly replaceToken: Coalescer<Rotation, UserGroupRow | null>

  constructor(primary: Primary) {
    const { query } = primary
    this.select = reading({
      keysOf: ({ providedId }) => [providedId],
      run: async (realm, keys) =>
        byKey(
          keys.map(({ providedId }) => providedId),
          await query(select, [...realm, keys.map(({ providedId }) => providedId)]),
          ({ provided_id }) => provided_id,
        ),
    })

    this.selectByToken = reading<ByHash, TokenRow | null>({
      keysOf: ({ hash }) => [hex(hash)],
      run: async (realm, wanted) =>
        byKey(
          wanted.map(({ hash }) => hex(hash)),
          await query(selectByToken, [...realm, wanted.map(({ hash }) => hash)]),
          ({ wanted_hash }) => hex(wanted_hash),
        ),
    })

    this.selectIdempotencyKey = reading({
      keysOf: ({ hash }) => [hex(hash)],
      run: async (realm, wanted) =>
        byKey(
          wanted.map(({ hash }) => hex(hash)),
          await query(selectIdempotencyKey, [...realm, wanted.map(({ hash }) => hash)]),
          ({ key_hash }) => hex(key_hash),
        ),
    })

    this.insert = changing({
      keysOf: ({ providedId }) => [providedId],
      run: async (realm, creations, sent) => {
        const made = await query(
          insert,
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
          ],
          sent,
        )
        const teamIds = new Map(made.map(({ provided_id, team_id }) => [provided_id, team_id]))
        return creations.map((creation) => {
          const teamId = teamIds.get(creation.providedId)
          return teamId === undefined ? null : rowOf(creation, teamId)
        })
      },
    })

    this.update = changing({
      keysOf: ({ teamId }) => [String(teamId)],
      run: async ([workspaceId], changes, sent) =>
        byKey(
          changes.map(({ teamId }) => teamId),
          await query(
            update,
            [
              workspaceId,
              changes.map(({ teamId }) => teamId),
              changes.map(({ change }) => change.name ?? null),
              changes.map(({ change }) => change.mapping !== undefined),
              changes.map(({ change }) => change.mapping ?? null),
              changes.map(({ change }) => change.properties !== undefined),
              changes.map(({ change }) => change.properties ?? null),
              changes.map(({ now }) => now),
            ],
            sent,
          ),
          ({ team_id }) => team_id,
        ),
    })

    this.replaceToken = changing({
      keysOf: ({ row, idempotency }) => [
        String(row.team_id),
        ...(idempotency === undefined ? [] : [hex(idempotency.keyHash)]),
      ],
      run: async (realm, rotations, sent) =>
        byKey(
          rotations.map(({ row }) => row.team_id),
          await query(
            replaceToken,
            [
              ...realm,
              rotations.map(({ row }) => row.team_id),
              rotations.map(({ row }) => row.token_hash),
              rotations.map(({ token }) => token.hash),
              rotations.map(({ token }) => token.keyId),
              rotations.map(({ token }) => token.sealed),
              rotations.map(({ now }) => now),
              rotations.map(({ oldTokenValidUntil }) => oldTokenValidUntil),
              rotations.map(({ idempotency }) => idempotency?.keyHash ?? null),
              rotations.map(({ idempotency }) => idempotency?.fingerprint ?? null),
              rotations.map(({ idempotency }) => idempotency?.expiresAt ?? null),
            ],
            sent,
          ),
          ({ team_id }) => team_id,
        ),
    })
  }
}

type RealmValues = readonly [workspaceId: number, environment: Environment]

type Kind<Item, Result> = Pick<CoalescerOptions<Item, Result>, 'keysOf'> & {
  readonly run: (realm: RealmValues, items: readonly Item[], sent: () => void) => Promise<Result[]>
}

/** Calls that read the same share the result. */
function reading<Item extends Realm, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
  return coalescing('share', kind)
}

/** Calls that change the same go one after another. */
function changing<Item extends Realm, Result>(kind: Kind<Item, Result>): Coalescer<Item, Result> {
  return coalescing('wait', kind)
}

function coalescing<Item extends Realm, Result>(
  sameKey: 'share' | 'wait',
  { keysOf, run }: Kind<Item, Result>,
): Coalescer<Item, Result> {
  return new Coalescer<Item, Result>({
    groupOf: ({ workspaceId, environment }) => `${workspaceId}/${environment}`,
    keysOf,
    sameKey,
    run: (items, sent) => {
      const { workspaceId, environment } = items[0] as Item
      return run([workspaceId, environment], items, sent)
    },
    maxInFlight,
  })
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

function rowOf({ providedId, name, change, token, now }: Creation, teamId: number): UserGroupRow {
  return {
    team_id: teamId,
    provided_id: providedId,
    name,
    mapping: change.mapping ?? null,
    properties: change.properties ?? null,
    token_hash: token.hash,
    token_key_id: token.keyId,
    token_sealed: token.sealed,
    token_issued_at: now,
    created_at: now,
    updated_at: now,
  }
}
