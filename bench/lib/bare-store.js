import { createHash, randomBytes, randomUUID } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import pg from 'pg'

/** Length of an encrypted token: nonce, token of the environment Testing, tag. */
export const sealedBytes = 12 + 62 + 16
/** Maximum number of user groups of one transaction. */
const maxBatch = 16

/** @typedef {import('../../server/dist/contract/user/schemas.js').UserGroupBody} UserGroupBody */
/** @typedef {{ body: UserGroupBody, respond: () => void }} Creation */

/**
 * Returns a function that creates user groups in a store of the service, with the rows that the service writes and nothing else: no
 * tokens, no check of mappings, no repeated attempts. Creations that arrive together are one transaction.
 * @param {string} location path of a SQLite file, or URL of a PostgreSQL database, with the tables of the service
 * @returns {(creation: Creation) => void}
 */
export function openBareStore(location) {
  const write = location.startsWith('postgres') ? writeToPostgres(location) : writeToSqlite(location)
  /** @type {Creation[]} */
  let waiting = []
  let isWriting = false
  const next = async () => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch)
      waiting = waiting.slice(maxBatch)
      await write(batch.map(({ body }) => rowOf(body)))
      for (const { respond } of batch) respond()
    }
    isWriting = false
  }
  return (creation) => {
    if (waiting.push(creation) === 1 && !isWriting) setImmediate(() => void next())
  }
}

/** @typedef {ReturnType<typeof rowOf>} Row */

/** @param {UserGroupBody} body */
function rowOf({ user_group_id, name = '', mapping, properties }) {
  const sealed = randomBytes(sealedBytes)
  return {
    id: user_group_id,
    name,
    mapping: JSON.stringify(mapping),
    properties: JSON.stringify(properties),
    entries: Object.entries(/** @type {Record<string, string>} */ (mapping ?? {})),
    hash: createHash('sha256').update(sealed).digest(),
    sealed,
    eventId: randomUUID(),
  }
}

/** @param {string} path */
function writeToSqlite(path) {
  const database = new Sqlite(path)
  // The settings of the service.
  database.pragma('synchronous = FULL')
  const insertUserGroup = database.prepare(
    `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, properties,
                             token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at)
     VALUES (1, 'Testing', ?, ?, ?, ?, ?, 'k1', ?, ?, ?, ?)`,
  )
  const insertEntry = database.prepare("INSERT INTO mapping_entry VALUES (1, 'Testing', ?, ?, ?)")
  // Triggers add the event, and the user group to what the search index lacks.
  const insertAuditEvent = database.prepare(
    `INSERT INTO audit_event (workspace_id, environment, event_id, action, author, team_id, provided_id)
     VALUES (1, 'Testing', ?, 'user_group.created', 'api_token:1', ?, ?)`,
  )
  const write = database.transaction((/** @type {readonly Row[]} */ rows) => {
    const now = Date.now()
    for (const { id, name, mapping, properties, entries, hash, sealed, eventId } of rows) {
      const { lastInsertRowid: teamId } = insertUserGroup.run(
        id,
        name,
        mapping,
        properties,
        hash,
        sealed,
        now,
        now,
        now,
      )
      for (const [schemaKey, dataSourceKey] of entries) insertEntry.run(schemaKey, dataSourceKey, teamId)
      insertAuditEvent.run(eventId, teamId, id)
    }
  })
  return (/** @type {readonly Row[]} */ rows) => {
    write.immediate(rows)
    return Promise.resolve()
  }
}

/** @param {string} url */
function writeToPostgres(url) {
  const pool = new pg.Pool({ connectionString: url })
  const text = `WITH new AS (
      SELECT nextval('user_group_team_id_seq') AS team_id, given.*
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::uuid[])
        AS given (provided_id, name, mapping, properties, hash, sealed, event_id)
    ), created AS (
      INSERT INTO user_group (workspace_id, environment, bucket, team_id, provided_id, name, mapping, properties,
                              token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at)
      SELECT 1, 'Testing', 0, team_id, provided_id, name, mapping, properties, hash, 'k1', sealed, $8, $8, $8 FROM new
    ), entry AS (
      INSERT INTO mapping_entry (workspace_id, environment, bucket, team_id, schema_key, data_source_key)
      SELECT 1, 'Testing', 0, team_id, key, value FROM new, json_each_text(mapping::json)
    ), event AS (
      INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
      SELECT 1, 'Testing', event_id, 'user_group.created', team_id, provided_id, 1 FROM new
    ), unindexed AS (
      INSERT INTO unindexed_user_group (workspace_id, environment, bucket, team_id, revision)
      SELECT 1, 'Testing', 0, team_id, 1 FROM new
    )
    INSERT INTO audit_event (workspace_id, environment, bucket, team_id, event_id, action, author, provided_id)
    SELECT 1, 'Testing', 0, team_id, event_id, 'user_group.created', 'api_token:1', provided_id FROM new`
  return (/** @type {readonly Row[]} */ rows) => {
    const values = [
      rows.map(({ id }) => id),
      rows.map(({ name }) => name),
      rows.map(({ mapping }) => mapping),
      rows.map(({ properties }) => properties),
      rows.map(({ hash }) => hash),
      rows.map(({ sealed }) => sealed),
      rows.map(({ eventId }) => eventId),
      Date.now(),
    ]
    return pool.query({ name: 'create', text, values }).then(() => undefined)
  }
}
