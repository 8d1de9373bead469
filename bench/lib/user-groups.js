import { sealedBytes } from './bare-store.js'
import { changeOf } from './bodies.js'

/** Columns of a user group that the service reads. */
export const readColumns =
  'team_id, provided_id, name, mapping, properties, token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at'

/** Columns that the service writes, in addition to the workspace and the environment. */
export const writtenColumns =
  'provided_id, name, mapping, properties, token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at'

/** Coalesced statements in their simplest form. The store's own statements do more. */
export const coalescedSelect = `SELECT ${readColumns}
  FROM unnest($3::text[]) AS wanted (provided_id) JOIN user_group USING (provided_id)
  WHERE workspace_id = $1 AND environment = $2`

export const coalescedInsert = `INSERT INTO user_group (workspace_id, environment, ${writtenColumns})
  SELECT $1, $2, new.provided_id, new.name, new.mapping, new.properties,
         new.token_hash, new.token_key_id, new.token_sealed, new.now, new.now, new.now
  FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::bytea[], $10::bigint[])
    AS new (provided_id, name, mapping, properties, token_hash, token_key_id, token_sealed, now)
  ORDER BY new.provided_id COLLATE "C"
  ON CONFLICT (workspace_id, environment, provided_id, bucket) DO NOTHING
  RETURNING team_id, provided_id`

const typical = changeOf('typical')

/** Typical row that the service writes. */
export const typicalRow = {
  name: typical.name,
  mapping: String(typical.mapping),
  properties: typical.properties,
  keyId: 'k1',
  /** Hexadecimal text, as the driver sends it. */
  sealed: `\\x${'a5'.repeat(sealedBytes)}`,
}

/**
 * Inserts user groups whose tokens cannot be decrypted, all in one bucket. Statements that insert more of them need no bucket and
 * no team id.
 * @param {import('pg').Client} client
 * @param {import('./ids.js').Ids} ids
 * @param {{ table?: string, order?: 'counted' | 'random' }} [options] ordered rows fill indexes best
 */
export async function insertUserGroups(client, { prefix, first, count }, options = {}) {
  const { table = 'user_group', order = 'counted' } = options
  const { name, mapping, properties, keyId, sealed } = typicalRow
  await client.query(
    `ALTER TABLE ${table} ALTER bucket SET DEFAULT 0, ALTER team_id SET DEFAULT nextval('user_group_team_id_seq')`,
  )
  await client.query(
    `INSERT INTO ${table} (workspace_id, environment, ${writtenColumns})
     SELECT 1, 'Testing', $1::text || n, $4, $5, $6, sha256(int8send(n)), $7, $8::bytea, $9, $9, $9
     FROM generate_series($2::bigint, $3::bigint) AS n ORDER BY ${order === 'random' ? 'random()' : 'n'}`,
    [prefix, first, first + count - 1, name, mapping, properties, keyId, sealed, Date.now()],
  )
}

/**
 * @param {import('pg').Client} client
 * @param {string} table
 */
export async function countRows(client, table) {
  /** @type {{ rows: { count: number }[] }} */
  const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${table}`)
  return rows[0]?.count
}
