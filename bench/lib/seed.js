import Sqlite from 'better-sqlite3'
import { LocatorCodec } from '../../server/dist/domain/user-group/locator.js'
import { hashToken } from '../../server/dist/domain/token/token.js'
import { newEventId } from '../../server/dist/domain/audit/audit-event.js'
import { encryptionContext } from '../../server/dist/domain/user-group/user-group.js'
import { idAt } from './ids.js'
import { loadRound } from './load.js'
import { keyring } from './service.js'
import { readLocatorKey } from './locator-key.js'
import { seededLocation, seededToken } from './tokens.js'
import { typicalRow } from './user-groups.js'

/** Longer than any benchmark needs. A user group that is not created in time makes the case fail later. */
const seconds = 120

/**
 * Creates a load's user groups through the API.
 * @param {import('./service.js').Server} server
 * @param {import('./bodies.js').BodySize} size
 * @param {import('./ids.js').Ids} ids
 */
export async function createGroups(server, size, ids) {
  await loadRound(server, { size, ids, order: 'once', seconds, expected: '"new_user_group":true' })
}

const rowsTogether = 10_000

/**
 * Inserts user groups with a typical body directly into the store, with the same rows as the service: mapping entries, audit
 * event and a valid encrypted token (`seededToken`). They are not in the search index, whose update would run beside the measurement.
 * @param {string | import('pg').Client} store SQLite file or PostgreSQL client
 * @param {import('./ids.js').Ids} ids
 */
export async function seedUserGroups(store, ids) {
  const locators = new LocatorCodec(await readLocatorKey(store))
  const { insert, close } = typeof store === 'string' ? sqliteSeeder(store) : postgresSeeder(store)
  try {
    for (let done = 0; done < ids.count; done += rowsTogether) {
      const count = Math.min(rowsTogether, ids.count - done)
      await insert(Array.from({ length: count }, (_, i) => rowOf(locators, ids, done + i)))
    }
  } finally {
    close()
  }
}

/** @typedef {ReturnType<typeof rowOf>} Row */
/** @typedef {{ insert: (rows: readonly Row[]) => unknown, close: () => void }} Seeder */

const started = Date.now()

/**
 * @param {LocatorCodec} locators
 * @param {import('./ids.js').Ids} ids
 * @param {number} index
 */
function rowOf(locators, ids, index) {
  const providedId = idAt(ids, index)
  const token = seededToken(locators, ids, index)
  const context = encryptionContext({ workspaceId: 1, environment: 'Testing', providedId })
  const { keyId, sealed } = keyring.seal(token, context)
  // One per millisecond, up to now.
  const at = started - ids.count + index
  return {
    ...seededLocation(ids, index),
    providedId,
    hash: hashToken(token),
    keyId,
    sealed,
    at,
    eventId: newEventId(at),
  }
}

const { name, mapping, properties } = typicalRow
/** @type {Record<string, string>} */
const parsedMapping = JSON.parse(mapping)
const entries = Object.entries(parsedMapping)
const author = 'api_token:1'
const requestId = 'k3Jf81Qz-2s'

/**
 * @param {string} file
 * @returns {Seeder}
 */
function sqliteSeeder(file) {
  const database = new Sqlite(file, { timeout: 30_000 })
  // Seeding needs no durability. The cache is large because mapping entries are not in the order of user groups.
  database.pragma('synchronous = OFF')
  database.pragma('cache_size = -2000000')
  const insertGroup = database.prepare(
    `INSERT INTO user_group (team_id, workspace_id, environment, provided_id, name, mapping, properties, token_hash,
                             token_key_id, token_sealed, token_issued_at, created_at, updated_at, updated_by)
     VALUES (?, 1, 'Testing', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertEntry = database.prepare(
    `INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
     VALUES (1, 'Testing', ?, ?, ?)`,
  )
  const insertEvent = database.prepare(
    `INSERT INTO audit_event (workspace_id, environment, event_id, action, author, request_id, team_id, provided_id, details)
     VALUES (1, 'Testing', ?, 'user_group.created', ?, ?, ?, ?, NULL)`,
  )
  const deleteUnindexed = database.prepare('DELETE FROM unindexed_user_group')
  const insert = database.transaction((/** @type {readonly Row[]} */ rows) => {
    for (const { teamId, providedId, hash, keyId, sealed, at, eventId } of rows) {
      insertGroup.run(teamId, providedId, name, mapping, properties, hash, keyId, sealed, at, at, at, author)
      for (const entry of entries) insertEntry.run(...entry, teamId)
      insertEvent.run(eventId, author, requestId, teamId, providedId)
    }
    // A trigger has added them.
    deleteUnindexed.run()
  })
  return { insert, close: () => database.close() }
}

/**
 * @param {import('pg').Client} client
 * @returns {Seeder}
 */
function postgresSeeder(client) {
  const statement = `
    WITH new AS (
      SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[], $5::bigint[], $6::uuid[], $12::bigint[],
                           $13::smallint[])
        AS new (provided_id, token_hash, token_key_id, token_sealed, at, event_id, team_id, bucket)
    ), created AS (
      INSERT INTO user_group (bucket, team_id, workspace_id, environment, provided_id, name, mapping, properties, token_hash,
                              token_key_id, token_sealed, token_issued_at, created_at, updated_at, updated_by)
      OVERRIDING SYSTEM VALUE
      SELECT bucket, team_id, 1, 'Testing', provided_id, $7, $8, $9, token_hash, token_key_id, token_sealed, at, at, at, $10
      FROM new
    ), entries AS (
      INSERT INTO mapping_entry (bucket, workspace_id, environment, schema_key, data_source_key, team_id)
      SELECT bucket, 1, 'Testing', key, value, team_id FROM new, json_each_text($8::json)
    )
    INSERT INTO audit_event (bucket, workspace_id, environment, event_id, action, author, request_id, team_id, provided_id)
    SELECT bucket, 1, 'Testing', event_id, 'user_group.created', $10, $11, team_id, provided_id FROM new`
  return {
    insert: (rows) =>
      client.query(statement, [
        rows.map((row) => row.providedId),
        rows.map((row) => row.hash),
        rows.map((row) => row.keyId),
        rows.map((row) => row.sealed),
        rows.map((row) => row.at),
        rows.map((row) => row.eventId),
        name,
        mapping,
        properties,
        author,
        requestId,
        rows.map((row) => row.teamId),
        rows.map((row) => row.bucket),
      ]),
    close: () => undefined,
  }
}
