import type { Config } from '../config.ts'
import type { Database, RowLevelSecurity } from '../databases/database.ts'
import { QueryError, UsageError } from '../errors.ts'
import { checkRole } from './role.ts'

/**
 * Returns row-level security for a role without findings. One that sees rows of other customers would see the same as the probe's
 * role, and every template would look isolated.
 * @throws UsageError
 */
export async function requireSafeRole(
  { rls, quote }: Database,
  config: Config,
  role: string,
): Promise<RowLevelSecurity> {
  if (rls === undefined) throw new UsageError('--rls-role needs PostgreSQL')
  const { findings } = await checkRole(rls.ask, config, role)
  const [first] = findings
  if (first !== undefined)
    throw new UsageError(
      `--rls-role ${role}: ${first.object} ${first.problem}: see ugs-isolation rls verify for all ${findings.length} findings`,
    )
  try {
    await rls.query({ text: 'SELECT 1', values: [] }, '', role)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    throw new UsageError(
      `--rls-role ${role}: the role of DATABASE_URL may not become it: GRANT ${quote(role)} TO it`,
    )
  }
  return rls
}

/** Returns the names, in lower case, of functions that may evade the policies, or change the customer. */
export async function opaqueFunctionsOf({ ask }: RowLevelSecurity): Promise<ReadonlySet<string>> {
  const rows = (await ask(
    `SELECT DISTINCT lower(proname) AS name
     FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace JOIN pg_language AS l ON l.oid = prolang
     WHERE n.nspname !~ '^(pg_catalog|information_schema)$'
       AND (lanname NOT IN ('sql', 'plpgsql') OR prosecdef OR proconfig::text ~* 'ugs|role'
            OR prosrc ~* 'set_config|ugs\\.|execute|set\\s+(local|session|role)')`,
    [],
  )) as { name: string }[]
  return new Set(['set_config', ...rows.map(({ name }) => name)])
}
