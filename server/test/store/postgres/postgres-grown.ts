import pg from 'pg'
import type { PrimaryPool, Statement } from '../../../src/store/postgres/primary-pool.ts'

/** Returns SQL for the id of an event at a time. */
const eventId = (time: string) =>
  `(lpad(to_hex(${time}), 12, '0') || '70008' || substr(md5(random()::text), 1, 15))::uuid`

/** Returns SQL that fills all tables with this number of rows and disables autovacuum, so there are no statistics. */
export const fill = (rows: number) => `
  -- The same as bucketOf.
  CREATE FUNCTION user_group_bucket(workspace_id bigint, environment text, provided_id text) RETURNS smallint LANGUAGE sql AS $$
    SELECT (get_byte(digest, 0) % 4 * 256 + get_byte(digest, 1))::smallint
    FROM sha256(convert_to(workspace_id || '/' || environment || '/' || provided_id, 'UTF8')) AS digest
  $$;
  ALTER TABLE user_group SET (autovacuum_enabled = false);
  ALTER TABLE unindexed_user_group SET (autovacuum_enabled = false);
  ALTER TABLE search_posting SET (autovacuum_enabled = false);
  ALTER TABLE superseded_token SET (autovacuum_enabled = false);
  ALTER TABLE idempotency_key SET (autovacuum_enabled = false);
  ALTER TABLE deleted_user_group SET (autovacuum_enabled = false);
  ALTER TABLE user_group_version SET (autovacuum_enabled = false);
  ALTER TABLE last_introspection SET (autovacuum_enabled = false);
  ALTER TABLE viewing SET (autovacuum_enabled = false);
  ALTER TABLE schema SET (autovacuum_enabled = false);
  ALTER TABLE data_source SET (autovacuum_enabled = false);
  ALTER TABLE mapping_entry SET (autovacuum_enabled = false);
  ALTER TABLE audit_event SET (autovacuum_enabled = false);
  INSERT INTO user_group (workspace_id, environment, provided_id, bucket, team_id, name, mapping, token_hash, token_key_id, token_sealed,
                          token_issued_at, created_at, updated_at, suspended_at)
    SELECT 1, 'Customer', 'customer ' || i, user_group_bucket(1, 'Customer', 'customer ' || i), i, 'Customer',
           '{"s' || i || '":"d' || i || '","many":"d' || i || '"}',
           sha256(i::text::bytea), 'k', '\\x00', 1, 1, 1, CASE WHEN i % 5000 = 0 THEN 1 END
    FROM generate_series(1, ${rows}) AS i;
  INSERT INTO unindexed_user_group (workspace_id, environment, bucket, team_id, revision)
    SELECT 1, environment, bucket, team_id, 1 FROM user_group;
  INSERT INTO superseded_token (workspace_id, bucket, team_id, issued_at, superseded_at, valid_until, token_hash)
    SELECT 1, bucket, team_id, 1, 1, 1, sha256('old'::bytea || token_hash) FROM user_group;
  INSERT INTO idempotency_key (workspace_id, environment, bucket, team_id, expires_at, key_hash, fingerprint, provided_id, name,
                               token_key_id, token_sealed)
    SELECT 1, 'Customer', bucket, team_id, 1, sha256('key'::bytea || token_hash), '\\x00', provided_id, 'Customer', 'k', '\\x00'
    FROM user_group;
  INSERT INTO deleted_user_group (workspace_id, environment, bucket, team_id, provided_id, name, mapping, token_hash, token_key_id,
                                  token_sealed, token_issued_at, created_at, updated_at, revision, deleted_at, deleted_by)
    SELECT 1, 'Customer', user_group_bucket(1, 'Customer', 'deleted ' || i), 1000000 + i, 'deleted ' || i, 'Deleted',
           '{"many":"d1"}', sha256(('deleted ' || i)::bytea), 'k', '\\x00', 1, 1, 1, 1, 1, 'cli:somebody'
    FROM generate_series(1, ${rows}) AS i;
  INSERT INTO user_group_version (workspace_id, bucket, team_id, revision, updated_at, name)
    SELECT 1, bucket, team_id, revision - 1, 1, 'Earlier' FROM user_group;
  INSERT INTO last_introspection (workspace_id, bucket, team_id, introspected_at) SELECT 1, bucket, team_id, 60000 FROM user_group;
  INSERT INTO viewing (workspace_id, environment, month, bucket, team_id, viewer_id, resource, days, last_seen_at)
    SELECT 1, 'Customer', 202611, bucket, team_id, 'u-7', 'sales', 1, 60000 FROM user_group;
  INSERT INTO schema (workspace_id, environment, provided_id, name, created_at)
    SELECT 1, 'Customer', 'many', 'Schema', 1 UNION ALL
    SELECT 1, 'Customer', 's' || i, 'Schema', 1 FROM generate_series(1, ${rows}) AS i;
  INSERT INTO data_source (workspace_id, schema_id, provided_id, name, created_at)
    SELECT 1, schema_id, 'd' || i, 'Data source', 1 FROM generate_series(1, ${rows}) AS i JOIN schema ON provided_id = 's' || i
    UNION ALL SELECT 1, schema_id, 'd' || i, 'Data source', 1 FROM generate_series(1, ${rows}) AS i, schema WHERE provided_id = 'many';
  INSERT INTO mapping_entry (workspace_id, environment, bucket, schema_key, data_source_key, team_id)
    SELECT 1, 'Customer', bucket, key, value, team_id FROM user_group, json_each_text(mapping::json);
  INSERT INTO audit_event (workspace_id, environment, event_id, action, author, team_id, provided_id, bucket)
    SELECT 1, 'Customer', ${eventId('1000 + team_id / 40')}, 'user_group.created', 'api_token:1', team_id, provided_id, bucket
    FROM user_group
    UNION ALL SELECT 1, 'Customer', ${eventId('2000 + team_id')}, action, 'api_token:1', team_id, provided_id, bucket
    FROM user_group, unnest(ARRAY['user_group.updated', 'user_group.token_rotated']) WITH ORDINALITY AS told (action, i)
    UNION ALL SELECT 1, 'Customer', ${eventId('2000 + i')}, 'console_session.created', 'api_token:1', null, null, 0
    FROM generate_series(1, ${rows}) AS i;`

export const many = 20_000

/** SQL that updates statistics. They decide whether PostgreSQL uses generic or custom plans. */
export const knowledge = {
  'without statistics of grown tables': '',
  'with generic plans and statistics of user groups only': 'ANALYZE user_group',
  'with generic plans and statistics of all tables': 'ANALYZE',
}

interface MeasuredDatabase {
  readonly primary: Pick<PrimaryPool, 'query'>
  readonly url: string
}

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

interface LoggedPlan {
  readonly 'Query Text': string
  readonly Plan: Plan
}

/** Returns the number of pages that a statement reads with the plan of this connection. Rolls back its changes. */
export async function pagesOf(...parts: Parameters<typeof plansOf>): Promise<number> {
  const [plan] = await plansOf(...parts)
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

/** Returns the number of rows that a statement reads and discards. */
export async function discardedRows(...parts: Parameters<typeof plansOf>): Promise<number> {
  const discarded = (plan: Plan): number =>
    (plan['Rows Removed by Filter'] ?? 0) * plan['Actual Loops'] +
    (plan.Plans ?? []).reduce((sum, each) => sum + discarded(each), 0)
  return (await plansOf(...parts)).reduce((sum, plan) => sum + discarded(plan), 0)
}

/**
 * Returns the plan of a statement, with the settings of the pool's connections, and then the plans of the statements of the function
 * that it calls.
 */
async function plansOf(
  database: MeasuredDatabase,
  statement: Statement<unknown> | string,
  values: readonly unknown[] = [],
): Promise<readonly [Plan, ...Plan[]]> {
  const text = typeof statement === 'string' ? statement : statement.text
  const given = values.length === 0 ? '' : `(${values.map(literalOf).join()})`
  const session = await measuringSession(database)
  try {
    await session.query(`PREPARE measured AS ${text}`)
    // The first execution reads the catalog.
    await execute(session, `EXECUTE measured ${given}`)
    const nested: Plan[] = []
    session.on('notice', ({ message }) => {
      const plan = /^duration: .* plan:\s*(\{.*)/s.exec(message ?? '')?.[1]
      const { 'Query Text': query, Plan: nestedPlan } = JSON.parse(plan ?? '{}') as Partial<LoggedPlan>
      if (nestedPlan !== undefined && !query?.startsWith('PREPARE')) nested.push(nestedPlan)
    })
    const [row] = await execute<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      session,
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE measured ${given}`,
    )
    if (row === undefined) throw new Error('there is no plan')
    return [row['QUERY PLAN'][0].Plan, ...nested]
  } finally {
    await session.end()
  }
}

async function execute<Row>(session: pg.Client, statement: string): Promise<Row[]> {
  await session.query('BEGIN')
  try {
    return (await session.query(statement)).rows as Row[]
  } finally {
    await session.query('ROLLBACK')
  }
}

/** Opens a session with the settings of the pool's connections that sends the plans of nested statements. */
async function measuringSession({ primary, url }: MeasuredDatabase): Promise<pg.Client> {
  const settings = await primary.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name LIKE 'enable_%' OR name IN ('plan_cache_mode', 'jit')",
  )
  const session = new pg.Client(url)
  await session.connect()
  for (const { name, setting } of settings) await session.query(`SET ${name} = '${setting}'`)
  await session.query(`LOAD 'auto_explain';
    SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_analyze = on;
    SET auto_explain.log_format = json; SET client_min_messages = log`)
  return session
}

function literalOf(value: unknown): string {
  if (value === null) return 'NULL'
  const isArray = Array.isArray(value)
  const elements = (isArray ? value : []).map((each) =>
    each === null ? 'NULL' : JSON.stringify(textOf(each)),
  )
  return pg.escapeLiteral(isArray ? `{${elements.join()}}` : textOf(value))
}

function textOf(value: unknown): string {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value)
}
