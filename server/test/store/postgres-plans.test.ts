import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from 'pg'
import { parseDatabaseUrl } from '../../src/database-url.ts'
import { Primary, type Statement } from '../../src/store/postgres/primary.ts'
import * as statements from '../../src/store/postgres/user-group-sql.ts'
import { freshDatabase } from '../support/database.ts'
import { openSession } from '../support/session.ts'
import { openPostgres, suiteScope } from './postgres-support.ts'
import { defaults } from './store-options.ts'

const rows = 20_000

/** Tables that have grown since they were made, and of which PostgreSQL knows nothing: no vacuum has come by yet. */
const fill = `
  ALTER TABLE user_group SET (autovacuum_enabled = false);
  ALTER TABLE superseded_token SET (autovacuum_enabled = false);
  ALTER TABLE idempotency_key SET (autovacuum_enabled = false);
  ALTER TABLE schema SET (autovacuum_enabled = false);
  ALTER TABLE data_source SET (autovacuum_enabled = false);
  ALTER TABLE mapping_entry SET (autovacuum_enabled = false);
  INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, token_hash, token_key_id, token_sealed,
                          token_issued_at, created_at, updated_at)
    SELECT 1, 'Customer', 'customer ' || i, 'Customer', '{"s' || i || '":"d' || i || '","many":"d' || i || '"}',
           sha256(i::text::bytea), 'k', '\\x00', 1, 1, 1
    FROM generate_series(1, ${rows}) AS i;
  INSERT INTO superseded_token
    SELECT 1, team_id, 1, 1, 1, sha256('old'::bytea || token_hash) FROM user_group;
  INSERT INTO idempotency_key
    SELECT 1, team_id, 1, 'Customer', sha256('key'::bytea || token_hash), '\\x00', provided_id, 'Customer', 'k', '\\x00'
    FROM user_group;
  INSERT INTO schema (workspace_id, environment, provided_id, name, created_at)
    SELECT 1, 'Customer', 'many', 'Schema', 1 UNION ALL
    SELECT 1, 'Customer', 's' || i, 'Schema', 1 FROM generate_series(1, ${rows}) AS i;
  INSERT INTO data_source (workspace_id, schema_id, provided_id, name, created_at)
    SELECT 1, schema_id, 'd' || i, 'Data source', 1 FROM generate_series(1, ${rows}) AS i JOIN schema ON provided_id = 's' || i
    UNION ALL SELECT 1, schema_id, 'd' || i, 'Data source', 1 FROM generate_series(1, ${rows}) AS i, schema WHERE provided_id = 'many';
  INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
    SELECT 1, 'Customer', key, value, team_id FROM user_group, json_each_text(mapping::json);`

const realm = [1, 'Customer']
const ids = [7, 10_007]
const providedIds = ids.map((id) => `customer ${id}`)
/** Of all arrays of a statement, the elements that are alike. */
const each = <T>(value: T) => ids.map(() => value)
const bytes = (prefix: string) => ids.map((id) => Buffer.from(`${prefix} ${id}`.padEnd(32)))

interface Session {
  readonly hashes: Buffer[]
  readonly teamIds: number[]
}

/** What each statement is given: two calls' worth, or the one call's. */
const values: Record<keyof typeof statements, (session: Session) => unknown[]> = {
  select: () => [...realm, providedIds],
  selectByToken: ({ hashes }) => [...realm, hashes],
  selectBySupersededToken: ({ hashes }) => [...realm, hashes],
  selectIdempotencyKey: ({ hashes }) => [...realm, hashes],
  resolveEntry: () => [...realm, ['many', 's10007', '20'], ['d7', 'd10007', '19']],
  insert: () => [
    ...[...realm, ['new 1', 'new 2'], each('New'), each('{"many":"20019","s7":"d7","9":"8"}'), each(null)],
    ...[bytes('token'), each('k'), bytes('sealed'), each(1), each(true)],
  ],
  update: ({ teamIds }) => [
    ...[...realm, teamIds, each('Changed'), each(true), each('{"many":"20019","s7":"d7","9":"8"}')],
    ...[each(false), each(null), each(2), each(true)],
  ],
  deleteUserGroup: ({ teamIds }) => [1, teamIds[0]],
  replaceToken: ({ teamIds, hashes }) => [
    ...[...realm, teamIds, hashes, bytes('token'), each('k'), bytes('sealed'), each(2), each(2)],
    ...[bytes('key'), bytes('fingerprint'), each(3), 2],
  ],
  selectPage: () => [...realm, 'customer 5', 10],
}

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

describe('PostgreSQL: while it has no statistics of tables that have grown,', () => {
  let primary: Primary
  let session: Client
  let known: Session
  const scope = suiteScope()
  before(async () => {
    const url = await freshDatabase(scope)
    await openPostgres(scope, url)
    session = await openSession(scope, url)
    await session.query(fill)
    const { rows: found } = await session.query<{ token_hash: Buffer; team_id: string }>(
      'SELECT token_hash, team_id FROM user_group WHERE provided_id = ANY ($1)',
      [providedIds],
    )
    known = {
      hashes: found.map(({ token_hash }) => token_hash),
      teamIds: found.map(({ team_id }) => Number(team_id)),
    }
    const location = parseDatabaseUrl(url)
    assert.ok(location.kind === 'postgres')
    primary = new Primary(location.server, defaults)
  })
  after(() => primary.close())

  for (const [name, statement] of Object.entries(statements) as [
    keyof typeof statements,
    Statement<unknown>,
  ][]) {
    it(`${name} reads a few pages`, async () => {
      const work = primary.transaction(async (query) => {
        const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`,
          values[name](known),
        )
        throw new Measured(row?.['QUERY PLAN'][0].Plan)
      })
      const plan = await work.catch((error: unknown) => {
        if (error instanceof Measured) return error.plan
        throw error
      })
      assert.ok(plan)
      const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
      // All of the smallest table are some 200.
      assert.ok(pages > 0 && pages < 150, `${pages} pages`)
    })
  }
})

/** Has the transaction rolled back. */
class Measured extends Error {
  readonly plan: Plan | undefined

  constructor(plan: Plan | undefined) {
    super()
    this.plan = plan
  }
}
