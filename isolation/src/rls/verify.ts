import { randomUUID } from 'node:crypto'
import { withUserGroup } from '@user-group-service/renderer'
import type pg from 'pg'
import { idOf, type Config } from '../config.ts'
import { connect, queryError } from '../databases/postgres.ts'
import { UsageError } from '../errors.ts'
import { readUserGroups } from '../user-groups.ts'
import { quote } from '../databases/database.ts'
import { nameOf } from './policy.ts'
import { checkRole, type Finding, type FoundTable } from './role.ts'

/** Transactions of two customers that run at the same time, and the connections that they share. */
export const transactions = 50
const connections = 5

const undefinedObject = '42704'

const settingQuery = "SELECT current_setting('ugs.user_group_id', true) AS setting"

const storedSettingQuery = `
  SELECT CASE WHEN setrole = 0 THEN format('ALTER DATABASE %I', current_database())
              ELSE format('ALTER ROLE %I', pg_get_userbyid(setrole)) END
         || CASE WHEN setrole <> 0 AND setdatabase <> 0 THEN format(' IN DATABASE %I', current_database()) ELSE '' END
         || ' RESET "ugs.user_group_id";' AS fix
  FROM pg_db_role_setting, unnest(setconfig) AS setting
  WHERE setting LIKE 'ugs.user\\_group\\_id=%' AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
    AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))`

export interface Verification {
  readonly role: string
  readonly findings: readonly Finding[]
}

/**
 * Checks that the role of `DATABASE_URL`, through its connection pool, shows a customer's rows to that customer only.
 * @throws UsageError if that could not be checked
 */
export async function verifyRls(
  databaseUrl: string | undefined,
  config: Config,
  timeoutMs: number,
): Promise<Verification> {
  const isPostgres = databaseUrl && URL.canParse(databaseUrl) && /^postgres(ql)?:/.test(databaseUrl)
  if (!isPostgres) throw new UsageError('DATABASE_URL must be the postgres:// URL of the dashboards')
  const clients: pg.Client[] = []
  try {
    for (let i = 0; i < connections; i++) clients.push(await connect(new URL(databaseUrl), config.folder))
    return await verify(clients as [pg.Client, ...pg.Client[]], config, timeoutMs)
  } catch (error) {
    if (error instanceof UsageError || (error as { code?: unknown }).code === undefined) throw error
    throw new UsageError(`row-level security could not be checked: ${queryError(error).message}`)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

async function verify(
  clients: readonly [pg.Client, ...pg.Client[]],
  config: Config,
  timeoutMs: number,
): Promise<Verification> {
  const [client] = clients
  const ask = async (text: string, values: readonly unknown[]) =>
    (await client.query<Record<string, unknown>>(text, [...values])).rows
  const [{ role } = { role: '' }] = (await ask('SELECT session_user AS role', [])) as { role: string }[]
  const { findings, tables } = await checkRole(ask, config, role)
  if (role !== config.role)
    findings.unshift({
      object: role,
      problem: `is the role of DATABASE_URL, and not ${config.role} of isolation.json`,
      fix: `Connect as ${config.role}: ALTER ROLE ${quote(config.role)} LOGIN;`,
    })
  try {
    const unset = await checkUnset(client, tables, timeoutMs)
    const pool = await checkPool(clients, tables, idsOf(config), timeoutMs, unset === null)
    findings.push(...(unset ?? []), ...pool)
  } catch (error) {
    // A policy that fails without the setting, which the findings name.
    if (findings.length === 0 || (error as { code?: string }).code !== undefinedObject) throw error
  }
  return { role, findings }
}

/** Returns the protected tables that show rows without a customer; null if a customer is set outside of transactions. */
async function checkUnset(
  client: pg.Client,
  tables: readonly FoundTable[],
  timeoutMs: number,
): Promise<Finding[] | null> {
  const findings: Finding[] = []
  await client.query('BEGIN READ ONLY')
  await client.query(`SET LOCAL statement_timeout = ${timeoutMs}`)
  const isSet = (await settingOf(client)) !== ''
  for (const table of tables) {
    const { rows } = await client.query(`SELECT FROM ${nameOf(table)} LIMIT 1`)
    if (rows.length > 0)
      findings.push({
        object: `${table.schema}.${table.name}`,
        problem: 'shows rows in a transaction that sets no customer',
        fix: 'Run the SQL of ugs-isolation rls print.',
      })
  }
  await client.query('COMMIT')
  return isSet ? null : findings
}

/** Runs interleaved transactions of two customers, and returns how one saw what belongs to the other. */
async function checkPool(
  clients: readonly [pg.Client, ...pg.Client[]],
  tables: readonly FoundTable[],
  ids: readonly [string, string],
  timeoutMs: number,
  isSet: boolean,
): Promise<Finding[]> {
  const seen = { isLeftOver: isSet, isMixed: false, foreign: new Set<FoundTable>() }
  await Promise.all(
    clients.map(async (client, c) => {
      for (let i = c; i < transactions; i += clients.length) {
        if ((await settingOf(client)) !== '') seen.isLeftOver = true
        const providedId = ids[i % 2] as string
        await withUserGroup(client, { providedId }, async () => {
          await client.query(`SET LOCAL statement_timeout = ${timeoutMs}`)
          if ((await settingOf(client)) !== providedId) seen.isMixed = true
          const table = tables[i % tables.length]
          if (table === undefined) return
          const { rows } = await client.query(
            `SELECT FROM ${nameOf(table)} WHERE (${quote(table.owner)}::text = $1) IS NOT TRUE LIMIT 1`,
            [providedId],
          )
          if (rows.length > 0) seen.foreign.add(table)
        })
      }
    }),
  )
  const [stored] = (await clients[0].query<{ fix: string }>(storedSettingQuery)).rows
  const local =
    "SELECT set_config('ugs.user_group_id', $1, true); -- in each transaction, as withUserGroup does"
  const findings: Finding[] = []
  if (seen.isLeftOver)
    findings.push({
      object: 'ugs.user_group_id',
      problem: 'is set outside of a transaction, so that the next client of a connection pool gets it',
      fix: stored?.fix ?? local,
    })
  if (seen.isMixed)
    findings.push({
      object: 'ugs.user_group_id',
      problem: `does not keep its value in a transaction, in ${transactions} transactions of two customers`,
      fix: local,
    })
  for (const table of seen.foreign)
    findings.push({
      object: `${table.schema}.${table.name}`,
      problem: 'shows rows of another customer in a transaction of one customer',
      fix: 'Run the SQL of ugs-isolation rls print.',
    })
  return findings
}

async function settingOf(client: pg.Client): Promise<string> {
  return (await client.query<{ setting: string | null }>(settingQuery)).rows[0]?.setting ?? ''
}

/** Returns two ids: random ones if the configuration has fewer. */
function idsOf(config: Config): [string, string] {
  const [first = randomUUID(), second = randomUUID()] = new Set(
    readUserGroups(config).map((entry) => (typeof entry === 'string' ? entry : (idOf(entry) ?? ''))),
  )
  return [first, second]
}
