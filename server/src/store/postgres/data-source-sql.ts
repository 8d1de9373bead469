/** Returns SQL for the value of a key in a mapping; null if there is none. */
export function entryIn(mapping: string, key: string): string {
  return `(${jsonOf(mapping)} ->> ${key})`
}

/** Returns SQL for a mapping as JSON. PostgreSQL text cannot hold U+0000, so it is read as U+FFFF. */
export function jsonOf(mapping: string): string {
  // JSON text contains no raw U+0001. It replaces escaped backslashes, which may look like the start of an escape.
  const replaced = String.raw`replace(replace(replace(${mapping}, '\\', chr(1)), '\u0000', '\uffff'), chr(1), '\\')`
  return `${replaced}::json`
}

const idOf = (text: string) => `CASE WHEN ${text} ~ '^[1-9][0-9]{0,15}$' THEN ${text}::bigint END`

/**
 * Joins rows `entry` (`key`, `value`) with the `schema` and `data_source` that they name, or null. $1 is the workspace, $2
 * the environment. A provided id wins over an id. With LIMIT, PostgreSQL looks up an id by its own index; otherwise it would
 * use the index of provided ids and read a whole schema.
 */
export const resolveEntries = `
  LEFT JOIN LATERAL (
    SELECT schema_id, provided_id FROM schema
    WHERE workspace_id = $1 AND schema_id = coalesce(
      (SELECT schema_id FROM schema AS named
       WHERE workspace_id = $1 AND environment = $2 AND provided_id = entry.key),
      (SELECT schema_id FROM (
         SELECT schema_id, environment FROM schema WHERE workspace_id = $1 AND schema_id = ${idOf('entry.key')} LIMIT 1
       ) AS numbered WHERE environment = $2)
    )
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
