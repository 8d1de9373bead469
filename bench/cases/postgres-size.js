import { startDatabase } from '../lib/postgres.js'
import { summaries } from '../lib/statistics.js'
import { insertUserGroups } from '../lib/user-groups.js'

const count = Number(process.env.BENCH_USER_GROUPS ?? 1_000_000)

/**
 * Measures the disk space of a user group, of a superseded token, of an audit event and of an event, in the table and in each index.
 * `BENCH_USER_GROUPS` sets the number of user groups.
 * @type {import('../run.js').Case}
 */
export async function postgresSize() {
  const database = await startDatabase()
  const { client } = database
  try {
    await insertUserGroups(client, { prefix: 'customer-', first: 10_000_000, count }, { order: 'random' })
    await client.query(
      `INSERT INTO superseded_token (bucket, workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
       SELECT bucket, workspace_id, sha256(token_hash), team_id, token_issued_at, token_issued_at, token_issued_at
       FROM user_group ORDER BY token_hash`,
    )
    // One event per millisecond, of random user groups.
    await client.query(
      `INSERT INTO audit_event (bucket, workspace_id, environment, event_id, action, author, request_id, team_id, provided_id, details)
       SELECT bucket, workspace_id, environment,
              (lpad(to_hex(token_issued_at + row_number() OVER (ORDER BY token_hash)), 12, '0') || '7000'
               || left(md5(provided_id), 16))::uuid,
              'user_group.updated', 'api_token:1', 'k3Jf81Qz-2s', team_id, provided_id,
              '{"changed_fields":["properties"]}'
       FROM user_group ORDER BY token_hash`,
    )
    await client.query(
      `INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
       SELECT workspace_id, environment, event_id, action, team_id, provided_id, 2 FROM audit_event ORDER BY event_id`,
    )
    const rows = []
    for (const table of ['user_group', 'superseded_token', 'audit_event', 'event']) {
      await client.query(`VACUUM (ANALYZE) ${table}`)
      rows.push(...(await sizes(client, table)))
    }
    return {
      title: `Disk for ${count} user groups with a body of about 200 B, each with one replaced token and one update`,
      rows,
      notes: [`PostgreSQL ${database.version}.`],
    }
  } finally {
    await database.stop()
  }
}

/**
 * @param {import('pg').Client} client
 * @param {string} table
 */
async function sizes(client, table) {
  /** @type {{ rows: { name: string, bytes: number }[] }} */
  const { rows } = await client.query(
    `SELECT relname AS name, pg_relation_size(oid)::float8 AS bytes
     FROM pg_class
     WHERE oid = $1::regclass OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = $1::regclass)
     ORDER BY relkind DESC, relname`,
    [table],
  )
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0)
  return [...rows, { name: `${table} in all`, bytes: total }].map(({ name, bytes }) => ({
    name,
    figures: summaries([{ 'B/row': bytes / count, MB: bytes / 1e6 }]),
  }))
}
