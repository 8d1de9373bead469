import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import type { Environment } from '../../../src/domain/environment.ts'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import type { Store } from '../../../src/domain/store.ts'
import { hashToken, parseUserGroupToken } from '../../../src/domain/token/token.ts'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import { UserGroupService } from '../../../src/domain/user-group/user-group-service.ts'
import { encryptionContext } from '../../../src/domain/user-group/user-group.ts'
import { readMigrations } from '../../../src/store/migrations.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { deletion, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { legacyToken } from '../../support/tokens.ts'

const folder = temporaryFolder({ after })
const keyring = new Keyring([generateSecretKey('k1')])
const now = 1_000_000
let files = 0

/** Creates a store as the migrations before locators left it, and fills it. */
function oldStore(fill: (database: Database) => void = () => undefined): string {
  const path = join(folder, `${files++}.db`)
  const database = new BetterSqlite3(path)
  database.pragma('foreign_keys = ON')
  database.pragma('application_id = 0x55475300')
  database.exec(
    'CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
  for (const { version, name, sql } of readMigrations('sqlite').slice(0, 9)) {
    database.exec(sql)
    database.prepare('INSERT INTO schema_migration VALUES (?, ?, 0)').run(version, name)
  }
  fill(database)
  database.close()
  return path
}

interface OldUserGroup {
  readonly teamId: number
  readonly providedId: string
  readonly token: string
}

/** Inserts user groups with tokens in the old form. */
class OldUserGroups {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  insert(
    providedId: string,
    environment: Environment = 'Customer',
    token = legacyToken(environment),
  ): OldUserGroup {
    const { keyId, sealed } = this.#seal(providedId, environment, token)
    const { lastInsertRowid } = this.#database
      .prepare(
        `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, properties, token_hash, token_key_id,
                                 token_sealed, token_issued_at, created_at, updated_at, revision, updated_by, suspended_at)
         VALUES (1, ?, ?, 'A', '{"1":"2"}', '{"a":1.0}', ?, ?, ?, 5, 6, 7, 3, 'cli:root', NULL)`,
      )
      .run(environment, providedId, hashToken(token), keyId, sealed)
    return { teamId: Number(lastInsertRowid), providedId, token }
  }

  supersede({ teamId }: OldUserGroup, validUntil: number): string {
    const token = legacyToken('Customer')
    this.#database
      .prepare(
        `INSERT INTO superseded_token (workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
         VALUES (1, ?, ?, 1, 5, ?)`,
      )
      .run(hashToken(token), teamId, validUntil)
    return token
  }

  keepIdempotencyKey({ teamId, providedId, token }: OldUserGroup, key: string, fingerprint: Buffer): void {
    const { keyId, sealed } = this.#seal(providedId, 'Customer', token)
    this.#database
      .prepare(
        `INSERT INTO idempotency_key (workspace_id, environment, key_hash, fingerprint, team_id, provided_id, name,
                                      token_key_id, token_sealed, expires_at)
         VALUES (1, 'Customer', ?, ?, ?, ?, 'A', ?, ?, ?)`,
      )
      .run(hash('sha256', key, 'buffer'), fingerprint, teamId, providedId, keyId, sealed, now + 10_000)
  }

  delete({ teamId }: OldUserGroup): void {
    const columns = `workspace_id, team_id, environment, provided_id, name, mapping, properties, token_hash, token_key_id,
      token_sealed, token_issued_at, created_at, updated_at, revision, updated_by, suspended_at`
    this.#database
      .prepare(
        `INSERT INTO deleted_user_group (${columns}, deleted_at, deleted_by)
         SELECT ${columns}, ${now - 1}, 'cli:root' FROM user_group WHERE team_id = ?`,
      )
      .run(teamId)
    this.#database.prepare('DELETE FROM user_group WHERE team_id = ?').run(teamId)
  }

  #seal(providedId: string, environment: Environment, token: string) {
    return keyring.seal(token, encryptionContext({ workspaceId: 1, environment, providedId }))
  }
}

async function open(path: string): Promise<{ store: Store; userGroups: UserGroupService }> {
  const store = await openStore({ kind: 'sqlite', path }, defaults)
  after(() => store.close())
  const userGroups = new UserGroupService({ store, keyring, clock: { now: () => now }, mappingMode: 'free' })
  return { store, userGroups }
}

function query<Row>(path: string, sql: string): Row[] {
  const database = new BetterSqlite3(path, { readonly: true })
  const rows = database.prepare<[], Row>(sql).all()
  database.close()
  return rows
}

const customer = { workspaceId: 1, environment: 'Customer', ...actor } as const

describe('SQLite: a store with tokens from before locators', async () => {
  const groups = {} as Record<'kept' | 'rotated' | 'deleted' | 'testing' | 'last', OldUserGroup>
  let inGrace = ''
  let ended = ''
  const fingerprint = randomBytes(32)
  const path = oldStore((database) => {
    const old = new OldUserGroups(database)
    groups.kept = old.insert('kept')
    groups.rotated = old.insert('rotated')
    inGrace = old.supersede(groups.rotated, now + 5000)
    ended = old.supersede(groups.rotated, 5)
    old.keepIdempotencyKey(groups.rotated, 'a key', fingerprint)
    groups.deleted = old.insert('deleted')
    groups.testing = old.insert('kept', 'Testing')
    groups.last = old.insert('last')
    old.delete(groups.deleted)
    old.delete(groups.last)
    database.prepare('DELETE FROM deleted_user_group WHERE team_id = ?').run(groups.last.teamId)
  })
  const before = query<object>(path, 'SELECT * FROM user_group ORDER BY team_id')
  const { store, userGroups } = await open(path)

  it('keeps all rows', () => {
    assert.deepEqual(query(path, 'SELECT * FROM user_group ORDER BY team_id'), before)
    const count = (table: string) => query<{ n: number }>(path, `SELECT count(*) AS n FROM ${table}`)[0]?.n
    assert.deepEqual(['superseded_token', 'idempotency_key', 'deleted_user_group'].map(count), [2, 1, 1])
    assert.deepEqual(query(path, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
    assert.deepEqual(query(path, 'PRAGMA foreign_key_check'), [])
  })

  it('has the location of all current, superseded and deleted tokens', async () => {
    const located = (token: string) => store.userGroups.locateLegacyToken(hashToken(token))
    const location = ({ teamId, providedId }: OldUserGroup, environment: Environment = 'Customer') => ({
      bucket: bucketOf({ workspaceId: 1, environment, providedId }),
      teamId,
    })
    assert.deepEqual(await located(groups.kept.token), location(groups.kept))
    assert.deepEqual(await located(groups.testing.token), location(groups.testing, 'Testing'))
    for (const token of [groups.rotated.token, inGrace, ended])
      assert.deepEqual(await located(token), location(groups.rotated))
    assert.deepEqual(await located(groups.deleted.token), location(groups.deleted))
    assert.equal(await located(legacyToken('Customer')), null)
    assert.deepEqual(query(path, 'SELECT count(*) AS count FROM legacy_token'), [{ count: 6 }])
  })

  it('locates the tokens that a running process of the previous release issues later', async () => {
    const file = oldStore()
    const { userGroups: upgraded } = await open(file)
    const database = new BetterSqlite3(file)
    const late = new OldUserGroups(database).insert('late')
    const rotated = legacyToken('Customer')
    assert.equal((await upgraded.introspect(customer, late.token))?.userGroup.teamId, late.teamId)
    database.prepare('UPDATE user_group SET token_hash = ?').run(hashToken(rotated))
    database.close()
    assert.equal((await upgraded.introspect(customer, rotated))?.userGroup.teamId, late.teamId)
  })

  it('has the same tables, indexes and triggers as a new store', async () => {
    const fresh = join(folder, 'fresh.db')
    await open(fresh)
    const objects =
      "SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE '%legacy%' ORDER BY type, name"
    assert.deepEqual(query(path, objects), query(fresh, objects))
    assert.deepEqual(query(fresh, "SELECT name FROM sqlite_schema WHERE name LIKE '%legacy%'"), [])
    const keyOf = (file: string) =>
      query<{ key: Buffer }>(file, 'SELECT key FROM locator_key').map(({ key }) => key)
    assert.deepEqual([keyOf(path).length, keyOf(path)[0]?.length], [1, 16])
    assert.deepEqual(Buffer.from(store.locatorKey), keyOf(path)[0])
    assert.notDeepEqual(keyOf(path), keyOf(fresh))
    assert.equal(await (await open(fresh)).store.userGroups.locateLegacyToken(hashToken('x')), null)
  })

  it('finds the tokens', async () => {
    const found = async (token: string, environment: Environment = 'Customer') => {
      const owner = await userGroups.introspect({ workspaceId: 1, environment }, token)
      return owner && [owner.userGroup.teamId, owner.validUntil]
    }
    assert.deepEqual(await found(groups.kept.token), [groups.kept.teamId, null])
    assert.deepEqual(await found(groups.testing.token, 'Testing'), [groups.testing.teamId, null])
    assert.deepEqual(await found(inGrace), [groups.rotated.teamId, now + 5000])
    for (const token of [ended, groups.deleted.token, groups.testing.token, legacyToken('Customer')])
      assert.equal(await found(token), null)
  })

  it('returns an unchanged user group with its token', async () => {
    const { userGroup, created } = await userGroups.getOrCreate(customer, 'kept', { name: 'A' }, false)
    assert.deepEqual([created, userGroup.token], [false, groups.kept.token])
  })

  it('rotates a current token to one with a locator, and no superseded one', async () => {
    const rotate = (token: string) =>
      userGroups.rotate(customer, { target: { currentToken: token }, gracePeriodSeconds: 1 })
    for (const token of [inGrace, ended]) await assert.rejects(rotate(token), { code: 'token_superseded' })
    const rotated = await rotate(groups.kept.token)
    assert.notEqual(parseUserGroupToken(rotated.token)?.locator, null)
    for (const token of [rotated.token, groups.kept.token])
      assert.equal((await userGroups.introspect(customer, token))?.userGroup.teamId, groups.kept.teamId)
    await assert.rejects(rotate(groups.kept.token), { code: 'token_superseded' })
    await rotate(rotated.token)
  })

  it('replays a rotation that was acknowledged before the migration', async () => {
    const { token } = await userGroups.rotate(customer, {
      target: { currentToken: inGrace },
      gracePeriodSeconds: 0,
      idempotency: { key: 'a key', fingerprint },
    })
    assert.equal(token, groups.rotated.token)
  })

  it('restores a deleted user group with its token', async () => {
    const { teamId, token } = groups.deleted
    await store.userGroups.restore({ ...customer, teamId, deletedAfter: 0, now })
    assert.equal((await userGroups.introspect(customer, token))?.userGroup.teamId, teamId)
    const key = { workspaceId: 1, environment: 'Customer', providedId: 'deleted' } as const
    assert.equal(await store.userGroups.delete({ ...deletion(key), now }), 'deleted')
    assert.equal(await userGroups.introspect(customer, token), null)
    await store.userGroups.restore({ ...customer, teamId, deletedAfter: 0, now })
    assert.equal((await userGroups.introspect(customer, token))?.userGroup.teamId, teamId)
  })

  it('continues after the highest id ever used, with tokens that have a locator', async () => {
    const { userGroup } = await userGroups.getOrCreate(customer, 'new', { name: 'A' }, true)
    assert.equal(userGroup.teamId, groups.last.teamId + 1)
    assert.notEqual(parseUserGroupToken(userGroup.token)?.locator, null)
    assert.equal((await userGroups.introspect(customer, userGroup.token))?.userGroup.teamId, userGroup.teamId)
  })
})

describe('SQLite: a store from before locators', () => {
  it('continues after the highest id ever used when all user groups are deleted', async () => {
    let used = 0
    const path = oldStore((database) => {
      const old = new OldUserGroups(database)
      old.insert('a')
      used = old.insert('b').teamId
      database.exec('DELETE FROM user_group')
    })
    const { userGroups } = await open(path)
    const { userGroup } = await userGroups.getOrCreate(customer, 'c', { name: 'A' }, true)
    assert.equal(userGroup.teamId, used + 1)
  })

  it('starts with id 1 when it never had a user group', async () => {
    const { userGroups } = await open(oldStore())
    assert.equal((await userGroups.getOrCreate(customer, 'a', { name: 'A' }, true)).userGroup.teamId, 1)
  })
})
