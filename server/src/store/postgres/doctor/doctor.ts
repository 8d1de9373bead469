import {
  error,
  findingOf,
  findNearLimit,
  findSchemaProblems,
  maxId,
  warning,
  type Check,
  type Finding,
  type StoreExamination,
} from '../../doctor.ts'
import type { PostgresServer } from '../../location.ts'
import { StoreError } from '../../store-error.ts'
import { tables } from '../../tables.ts'
import { Fault } from '../../../domain/fault.ts'
import { distributedFunctions } from '../citus/citus.ts'
import { readRole, type DatabaseCheck, type Examined, type PostgresExaminationOptions } from './check.ts'
import { findMissingIndexes } from './indexes.ts'
import { hasOtherNodes } from './nodes.ts'
import { clusterChecks } from './cluster.ts'
import { serverChecks } from './server.ts'
import { checkServer, isBeingFilled, readApplied } from '../migrate.ts'
import { isOfNode, PostgresFailure, remediationFor } from '../postgres-fault.ts'
import { PrimaryPool, type Query } from '../primary-pool.ts'
import { Retry } from '../retry.ts'
import { Distribution } from '../citus/distribution.ts'
import { coldPorts } from '../../cold/cold-ports.ts'
import { PostgresRunner } from '../cold-runner.ts'

/** Connects when the check `connection` runs. Statements only read. */
export function examinePostgres(
  server: PostgresServer,
  options: PostgresExaminationOptions,
): StoreExamination {
  let pool: PrimaryPool | undefined
  const primary = () => (pool ??= new PrimaryPool(server, { ...options, poolSize: 2 }))
  const retry = () => new Retry(primary(), options.deadlineMs)
  const secretKeys = () =>
    coldPorts(new PostgresRunner(primary(), retry(), new Distribution(primary()))).secretKeys
  const examined: Examined = {
    server,
    options,
    query: (statement, values) => primary().query(statement, values),
  }
  const connection: DatabaseCheck = {
    name: 'connection',
    needs: [],
    run: async () => {
      await retry().run(() => checkServer(primary()))
      return []
    },
  }
  const all = [connection, ...storeChecks, ...serverChecks, ...clusterChecks]
  return {
    checks: all.map(({ name, needs, run }): Check => ({
      name,
      needs,
      run: () => run(examined).catch(async (failure: unknown) => [await findingOfFailure(examined, failure)]),
    })),
    secretKeys: {
      listChecks: () => secretKeys().listChecks(),
      listRetired: () => secretKeys().listRetired(),
    },
    close: async () => {
      await pool?.close()
    },
  }
}

/** Throws defects. */
async function findingOfFailure({ query }: Examined, failure: unknown): Promise<Finding> {
  if (failure instanceof StoreError) return findingOf(failure.message, 'Check DATABASE_URL.')
  const code =
    failure instanceof PostgresFailure ? failure.code : failure instanceof Fault ? failure.reason : undefined
  if (code === undefined) throw failure
  if (isOfNode(code) && (await hasOtherNodes(query).catch(() => false)))
    return warning(
      `A node of the Citus cluster did not respond (${code}).`,
      'Solve what the check `nodes` reports.',
    )
  if (code !== '42501') return findingOf(`${remediationFor(code)} (${code})`, 'Check DATABASE_URL.')
  return warning(
    'The role lacks a right that this check needs.',
    `Run as a superuser: \`GRANT pg_monitor TO ${await readRole(query)}\`.`,
  )
}

const storeChecks: readonly DatabaseCheck[] = [
  { name: 'schema', needs: ['connection'], run: ({ query }) => findSchema(query) },
  { name: 'rights', needs: ['connection'], run: ({ query }) => findMissingRights(query) },
  { name: 'indexes', needs: ['schema'], run: ({ query }) => findIndexProblems(query) },
  { name: 'ids', needs: ['schema', 'rights'], run: ({ query }) => findIdProblems(query) },
]

async function findSchema(query: Query): Promise<Finding[]> {
  try {
    const applied = await readApplied(query)
    if (applied.length === 0) return await findHiddenTables(query)
    if (await isBeingFilled(query))
      return [error('A copy into this database is not finished.', 'Run `ugs store copy` again.')]
    const problems = findSchemaProblems('postgres', applied)
    return problems.length > 0 ? problems : await findMissingTables(query)
  } catch (failure) {
    if (!(failure instanceof PostgresFailure) || failure.code !== '42501') throw failure
    return [
      error(
        'The role may not read the table schema_migration.',
        `Run as the owner of the tables: \`GRANT SELECT ON schema_migration TO ${await readRole(query)}\`.`,
      ),
    ]
  }
}

async function findMissingTables(query: Query): Promise<Finding[]> {
  const missing = await query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [tables.map(({ name }) => name)],
  )
  return missing.map(({ name }) =>
    error(`The table ${name} is missing.`, 'Restore a backup of the database.'),
  )
}

/** PostgreSQL hides tables of schemas that the role may not use, or that its search_path lacks. */
async function findHiddenTables(query: Query): Promise<Finding[]> {
  const [hidden] = await query<{ schema: string; may_use: boolean }>(
    `SELECT quote_ident(nspname) AS schema, has_schema_privilege(pg_namespace.oid, 'USAGE') AS may_use
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relname = 'schema_migration' AND obj_description(pg_class.oid, 'pg_class') LIKE 'User Group Service%'`,
  )
  if (hidden === undefined) return findSchemaProblems('postgres', [])
  const role = await readRole(query)
  return [
    hidden.may_use
      ? error(
          `The tables are in the schema ${hidden.schema}, which the search_path of the role lacks.`,
          `Run as a superuser: \`ALTER ROLE ${role} SET search_path = ${hidden.schema}\`.`,
        )
      : error(
          `The role may not use the schema ${hidden.schema}, which has the tables.`,
          `Run as its owner: \`GRANT USAGE ON SCHEMA ${hidden.schema} TO ${role}\`.`,
        ),
  ]
}

const teamIdSequence = 'user_group_team_id_seq'

async function findMissingRights(query: Query): Promise<Finding[]> {
  const names = tables.map(({ name }) => name)
  const lacking = await query<{ grant: string }>(
    `WITH lacking AS (
       SELECT 1 AS place, 'TABLE' AS kind, privilege, name FROM unnest($1::text[]) AS name
       CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS privilege
       WHERE NOT has_table_privilege(to_regclass(name), privilege)
       UNION ALL
       SELECT 1, 'TABLE', 'SELECT', 'schema_migration' WHERE NOT has_table_privilege(to_regclass('schema_migration'), 'SELECT')
       UNION ALL
       SELECT 2, 'SEQUENCE', 'USAGE', name FROM unnest($2::text[]) AS name
       WHERE NOT has_sequence_privilege(to_regclass(name), 'USAGE')
       UNION ALL
       SELECT 3, 'FUNCTION', 'EXECUTE', proname FROM pg_proc
       WHERE proname = ANY ($3) AND pg_function_is_visible(oid) AND NOT has_function_privilege(oid, 'EXECUTE')
     ), grouped AS (
       SELECT place, kind, name, string_agg(DISTINCT privilege, ', ') AS privileges FROM lacking GROUP BY place, kind, name
     )
     SELECT format('GRANT %s ON %s %s TO %I', privileges, kind, string_agg(name, ', ' ORDER BY name), current_user) AS grant
     FROM grouped GROUP BY place, kind, privileges ORDER BY place, privileges`,
    [names, [teamIdSequence], distributedFunctions],
  )
  if (lacking.length === 0) return []
  const statements = lacking.map(({ grant }) => grant).join('; ')
  return [error('The role lacks rights on the tables.', `Run as the owner of the tables: \`${statements}\`.`)]
}

/** Interrupted `CREATE INDEX CONCURRENTLY` leaves an index that costs writes and serves no read. */
async function findIndexProblems(query: Query): Promise<Finding[]> {
  const indexes = await query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
     WHERE NOT indisvalid AND indrelid IN (SELECT to_regclass(name) FROM unnest($1::text[]) AS name) ORDER BY 1`,
    [tables.map(({ name }) => name)],
  )
  return [
    ...indexes.map(({ name }) =>
      error(
        `The index ${name} is not valid.`,
        `Run as the owner of the tables: \`REINDEX INDEX CONCURRENTLY ${name}\`.`,
      ),
    ),
    ...(await findMissingIndexes(query)),
  ]
}

/** Maximum number of workspaces whose ids are compared with the sequence. */
const comparedWorkspaces = 1000

async function findIdProblems(query: Query): Promise<Finding[]> {
  const findings: Finding[] = []
  const unreadable: string[] = []
  for (const { name, counter } of tables) {
    if (counter === undefined) continue
    const sequence = `${name}_${counter}_seq`
    // That of a migrated store starts after the ids in use.
    const [row] = await query<{ last: number; max: number; may_read: boolean }>(
      `SELECT coalesce(last_value, start_value - 1) AS last, max_value AS max, has_sequence_privilege(to_regclass($1), 'SELECT, USAGE') AS may_read
       FROM pg_sequences WHERE format('%I.%I', schemaname, sequencename)::regclass = to_regclass($1)`,
      [sequence],
    )
    if (row === undefined)
      findings.push(error(`The sequence ${sequence} is missing.`, 'Restore a backup of the database.'))
    else if (!row.may_read) unreadable.push(sequence)
    else {
      const used = await readHighestId(query, name, counter)
      findings.push(...findSequenceProblems({ ...row, name: `${name}.${counter}`, sequence, used }))
    }
  }
  if (unreadable.length === 0) return findings
  const names = unreadable.join(', ')
  return [
    ...findings,
    warning(
      `The role may not read the sequences ${names}, so they were not checked.`,
      `Run as the owner of the tables: \`GRANT SELECT ON SEQUENCE ${names} TO ${await readRole(query)}\`.`,
    ),
  ]
}

function findSequenceProblems(counter: {
  readonly name: string
  readonly sequence: string
  readonly last: number
  readonly max: number
  readonly used: number
}): Finding[] {
  const { last } = counter
  const setBack = `\`SELECT setval('${counter.sequence}', ${Math.max(counter.used, 1)})\``
  if (last < counter.used) {
    return [
      error(
        `The sequence ${counter.sequence} is at ${last}, but ${counter.name} has ${counter.used}: new rows would repeat ids.`,
        `Run as the owner of the tables: ${setBack}.`,
      ),
    ]
  }
  const limit = Math.min(counter.max, maxId)
  return findNearLimit(
    counter.name,
    last,
    limit,
    counter.max < maxId
      ? `Run as the owner of the tables: \`ALTER SEQUENCE ${counter.sequence} MAXVALUE ${maxId}\`.`
      : `Creating rows does not reach this. Find out what set the sequence. The highest id in use is ${counter.used}; if no higher id was issued, run as the owner of the tables: ${setBack}.`,
  )
}

/** Reads the highest id by an index. The ids of user groups are indexed within each workspace. */
async function readHighestId(query: Query, table: string, column: string): Promise<number> {
  if (table !== 'user_group') {
    const [row] = await query<{ id: number | null }>(`SELECT max(${column}) AS id FROM ${table}`)
    return row?.id ?? 0
  }
  const workspaces = await query<{ id: number }>(
    'SELECT workspace_id AS id FROM workspace ORDER BY workspace_id LIMIT $1',
    [comparedWorkspaces],
  )
  let highest = 0
  for (const { id } of workspaces) {
    for (const name of ['user_group', 'deleted_user_group']) {
      const [row] = await query<{ id: number | null }>(
        `SELECT max(team_id) AS id FROM ${name} WHERE workspace_id = $1`,
        [id],
      )
      highest = Math.max(highest, row?.id ?? 0)
    }
  }
  return highest
}
