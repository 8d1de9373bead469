import pg from 'pg'
import type { PrimaryPool, Statement } from '../../../src/store/postgres/primary-pool.ts'

/** Returns SQL for the id of an event at a time. */
const eventId = (time: string) =>
  `(lpad(to_hex(${time}), 12, '0') || '70008' || substr(md5(random()::text), 1, 15))::uuid`

/** Returns SQL that fills all tables with this number of rows and disables autovacuum, so there are no statistics. */
export const fill = (rows: number) => `
  ALTER TABLE user_group SET (autovacuum_enabled = false);
  ALTER TABLE superseded_token SET (autovacuum_enabled = false);
  ALTER TABLE idempotency_key SET (autovacuum_enabled = false);
  ALTER TABLE deleted_user_group SET (autovacuum_enabled = false);
  ALTER TABLE user_group_version SET (autovacuum_enabled = false);
  ALTER TABLE last_introspection SET (autovacuum_enabled = false);
  ALTER TABLE schema SET (autovacuum_enabled = false);
  ALTER TABLE data_source SET (autovacuum_enabled = false);
  ALTER TABLE mapping_entry SET (autovacuum_enabled = false);
  ALTER TABLE audit_event SET (autovacuum_enabled = false);
  INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, token_hash, token_key_id, token_sealed,
                          token_issued_at, created_at, updated_at, suspended_at)
    SELECT 1, 'Customer', 'customer ' || i, 'Customer', '{"s' || i || '":"d' || i || '","many":"d' || i || '"}',
           sha256(i::text::bytea), 'k', '\\x00', 1, 1, 1, CASE WHEN i % 5000 = 0 THEN 1 END
    FROM generate_series(1, ${rows}) AS i;
  INSERT INTO superseded_token
    SELECT 1, team_id, 1, 1, 1, sha256('old'::bytea || token_hash) FROM user_group;
  INSERT INTO idempotency_key
    SELECT 1, team_id, 1, 'Customer', sha256('key'::bytea || token_hash), '\\x00', provided_id, 'Customer', 'k', '\\x00'
    FROM user_group;
  INSERT INTO deleted_user_group (workspace_id, environment, team_id, provided_id, name, mapping, token_hash, token_key_id,
                                  token_sealed, token_issued_at, created_at, updated_at, revision, deleted_at, deleted_by)
    SELECT 1, 'Customer', 1000000 + i, 'deleted ' || i, 'Deleted', '{"many":"d1"}', sha256(('deleted ' || i)::bytea), 'k',
           '\\x00', 1, 1, 1, 1, 1, 'cli:somebody'
    FROM generate_series(1, ${rows}) AS i;
  INSERT INTO user_group_version (workspace_id, team_id, revision, updated_at, name)
    SELECT 1, team_id, revision - 1, 1, 'Earlier' FROM user_group;
  INSERT INTO last_introspection SELECT 1, team_id, 60000 FROM user_group;
  INSERT INTO schema (workspace_id, environment, provided_id, name, created_at)
    SELECT 1, 'Customer', 'many', 'Schema', 1 UNION ALL
    SELECT 1, 'Customer', 's' || i, 'Schema', 1 FROM generate_series(1, ${rows}) AS i;
  INSERT INTO data_source (workspace_id, schema_id, provided_id, name, created_at)
    SELECT 1, schema_id, 'd' || i, 'Data source', 1 FROM generate_series(1, ${rows}) AS i JOIN schema ON provided_id = 's' || i
    UNION ALL SELECT 1, schema_id, 'd' || i, 'Data source', 1 FROM generate_series(1, ${rows}) AS i, schema WHERE provided_id = 'many';
  INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
    SELECT 1, 'Customer', key, value, team_id FROM user_group, json_each_text(mapping::json);
  INSERT INTO audit_event (workspace_id, environment, event_id, action, author, team_id, provided_id)
    SELECT 1, 'Customer', ${eventId('1000 + i / 40')}, 'user_group.created', 'api_token:1', team_id, provided_id
    FROM (SELECT row_number() OVER (ORDER BY team_id) AS i, * FROM user_group) AS numbered
    UNION ALL SELECT 1, 'Customer', ${eventId('2000 + team_id')}, action, 'api_token:1', team_id, provided_id
    FROM user_group, unnest(ARRAY['user_group.updated', 'user_group.token_rotated']) WITH ORDINALITY AS recorded (action, i)
    UNION ALL SELECT 1, 'Customer', ${eventId('2000 + i')}, 'console_session.created', 'api_token:1', null, null
    FROM generate_series(1, ${rows}) AS i;`

export const many = 20_000

/** SQL that updates statistics. They decide whether PostgreSQL uses generic or custom plans. */
export const knowledge = {
  'without statistics of grown tables': '',
  'with generic plans and statistics of user groups only': 'ANALYZE user_group',
  'with generic plans and statistics of all tables': 'ANALYZE',
}

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** Returns the number of pages that a statement reads with the plan of this connection. Rolls back its changes. */
export async function pagesOf(...parts: Parameters<typeof planOf>): Promise<number> {
  const plan = await planOf(...parts)
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

/** Returns the number of rows that a statement reads and discards. */
export async function discardedRows(...parts: Parameters<typeof planOf>): Promise<number> {
  const discarded = (plan: Plan): number =>
    (plan['Rows Removed by Filter'] ?? 0) * plan['Actual Loops'] +
    (plan.Plans ?? []).reduce((sum, each) => sum + discarded(each), 0)
  return discarded(await planOf(...parts))
}

async function planOf(
  primary: PrimaryPool,
  statement: Statement<unknown> | string,
  values: readonly unknown[] = [],
): Promise<Plan> {
  const text = typeof statement === 'string' ? statement : statement.text
  const work = primary.transaction(async (query) => {
    await query(`PREPARE measured AS ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(literalOf).join()})`
    const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE measured ${given}`,
    )
    await query('DEALLOCATE measured')
    throw new Measured(row?.['QUERY PLAN'][0].Plan)
  })
  const plan = await work.catch((error: unknown) => {
    if (error instanceof Measured) return error.plan
    throw error
  })
  if (plan === undefined) throw new Error('there is no plan')
  return plan
}

/** Thrown to roll back the transaction. */
class Measured extends Error {
  readonly plan: Plan | undefined

  constructor(plan: Plan | undefined) {
    super()
    this.plan = plan
  }
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
