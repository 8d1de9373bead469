/**
 * The entries of a mapping as rows `key` and `value`, those that `mapping_entry` keeps (`mayName`). None where there is no
 * mapping. U+0000, which no text of PostgreSQL can hold, is read as U+FFFF, so that its entry falls out with those.
 */
export function entriesOf(mapping: string): string {
  // No JSON text has U+0001 as it is: it keeps the place of an escaped backslash, which an escape may seem to start with.
  const replaced = String.raw`replace(replace(replace(${mapping}, '\\', chr(1)), '\u0000', '\uffff'), chr(1), '\\')`
  return `(
    SELECT key, value FROM json_each_text(${replaced}::json)
    WHERE strpos(key, chr(65535)) = 0 AND strpos(value, chr(65535)) = 0
  )`
}

const idOf = (text: string) => `CASE WHEN ${text} ~ '^[1-9][0-9]{0,14}$' THEN ${text}::bigint END`

/**
 * Joins to rows `entry` (`key`, `value`) what they name, as `schema` and `data_source`: null where there is no such. The
 * workspace is $1, the environment $2. The provided id wins where an id matches too. LIMIT has what is
 * looked up by id be looked up by that alone: PostgreSQL would take the index of provided ids, and read all of a schema.
 */
export const resolveEntries = `
  LEFT JOIN LATERAL (
    SELECT coalesce(
      (SELECT schema_id FROM schema WHERE workspace_id = $1 AND environment = $2 AND provided_id = entry.key),
      (SELECT schema_id FROM (
         SELECT schema_id, environment FROM schema WHERE workspace_id = $1 AND schema_id = ${idOf('entry.key')} LIMIT 1
       ) AS numbered WHERE environment = $2)
    ) AS schema_id
  ) AS schema ON true
  LEFT JOIN LATERAL (
    SELECT data_source_id, provided_id, name FROM data_source
    WHERE workspace_id = $1 AND data_source_id = coalesce(
      (SELECT data_source_id FROM data_source AS named
       WHERE workspace_id = $1 AND schema_id = schema.schema_id AND provided_id = entry.value),
      (SELECT data_source_id FROM (
         SELECT data_source_id, schema_id FROM data_source
         WHERE workspace_id = $1 AND data_source_id = ${idOf('entry.value')} LIMIT 1
       ) AS numbered WHERE schema_id = schema.schema_id)
    )
  ) AS data_source ON true`
