import type { Config } from '../config.ts'
import { quote, type Ask } from '../databases/database.ts'
import { UsageError } from '../errors.ts'
import {
  createPolicy,
  currentCustomer,
  enable,
  force,
  nameOf,
  protectedTables,
  type ProtectedTable,
} from './policy.ts'

/** A mistake by which a customer may see rows of others. */
export interface Finding {
  /** The role, table, view or function. */
  readonly object: string
  readonly problem: string
  /** SQL, or an instruction where no SQL helps. */
  readonly fix: string
}

/** A protected table with the schema in which it was found. */
export type FoundTable = ProtectedTable & { readonly schema: string }

interface FoundRelation {
  readonly schema: string
  readonly name: string
  readonly kind: 'r' | 'p' | 'f' | 'v' | 'm'
  readonly isSecured: boolean
  readonly isForced: boolean
  readonly isInvoker: boolean
  readonly isReadable: boolean
  /** The owner, if the role is or may become it; null otherwise. */
  readonly ownRole: string | null
  readonly columns: Readonly<Record<string, { readonly quoted: string; readonly isExact: boolean }>> | null
}

/** Roles to which no policy applies, or which read tables from files or from the log of changes. */
const powersQuery = `
  SELECT rolname AS name, rolsuper AS "isSuper", rolname = $1 AS "isItself",
         CASE WHEN rolbypassrls THEN 'BYPASSRLS' ELSE 'REPLICATION' END AS attribute
  FROM pg_roles
  WHERE (rolsuper OR rolbypassrls OR rolreplication OR rolname = 'pg_read_server_files') AND pg_has_role($1, oid, 'MEMBER')
  ORDER BY rolname = $1 DESC, rolname`

/** A view needs no privilege on the schema of what it reads. */
const isReadByView = (catalog: string, oid: string) =>
  `EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_rewrite'::regclass AND refclassid = '${catalog}'::regclass AND refobjid = ${oid})`

const relationsQuery = `
  SELECT n.nspname AS schema, c.relname AS name, c.relkind AS kind, c.relrowsecurity AS "isSecured",
         c.relforcerowsecurity AS "isForced",
         coalesce((SELECT option_value::boolean FROM pg_options_to_table(c.reloptions)
                   WHERE option_name = 'security_invoker'), false) AS "isInvoker",
         (has_schema_privilege($1, n.oid, 'USAGE') OR ${isReadByView('pg_class', 'c.oid')}) AND has_any_column_privilege($1, c.oid, 'SELECT') AS "isReadable",
         CASE WHEN pg_has_role($1, c.relowner, 'MEMBER') THEN pg_get_userbyid(c.relowner) END AS "ownRole",
         (SELECT json_object_agg(attname, json_build_object(
                   'quoted', quote_ident(attname), 'isExact', coalesce(collisdeterministic, true)))
          FROM pg_attribute LEFT JOIN pg_collation AS l ON l.oid = attcollation
          WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND n.nspname !~ '^(pg_|information_schema$)'
  ORDER BY n.nspname, c.relname`

const policiesQuery = `
  SELECT n.nspname AS schema, c.relname AS table, polname AS name, pg_get_expr(polqual, polrelid) AS condition
  FROM pg_policy JOIN pg_class AS c ON c.oid = polrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE polpermissive AND polcmd IN ('r', '*')
    AND EXISTS (SELECT FROM unnest(polroles) AS role
                WHERE CASE WHEN role = 0 THEN true ELSE pg_has_role($1, role, 'MEMBER') END)
  ORDER BY polname`

const definersQuery = `
  SELECT format('%I.%I(%s)', n.nspname, proname, pg_get_function_identity_arguments(p.oid)) AS name
  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace
  WHERE prosecdef AND n.nspname !~ '^(pg_|information_schema$)'
    AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
    AND (has_schema_privilege($1, n.oid, 'USAGE') OR ${isReadByView('pg_proc', 'p.oid')}) AND has_function_privilege($1, p.oid, 'EXECUTE')
  ORDER BY 1`

interface Policy {
  readonly schema: string
  readonly table: string
  readonly name: string
  readonly condition: string | null
}

/**
 * Checks by the catalog that a role reads protected tables under their policies only.
 * @throws UsageError if the role, or a listed table, does not exist
 */
export async function checkRole(
  ask: Ask,
  config: Config,
  role: string,
): Promise<{ findings: Finding[]; tables: FoundTable[] }> {
  const known = await ask('SELECT FROM pg_roles WHERE rolname = $1', [role])
  if (known.length === 0)
    throw new UsageError(`the database has no role ${role}: create it as ugs-isolation rls print shows`)
  const relations = (await ask(relationsQuery, [role])) as FoundRelation[]
  const found = await finderOf(ask, relations)
  const listed = new Set(config.tables.map(found))
  const tables = protectedTables(config).map((table) => {
    const relation = found(table)
    if (relation.columns?.[table.owner] === undefined)
      throw new UsageError(`isolation.json: ${table.title} has no column ${table.owner}`)
    return { ...table, schema: relation.schema, relation }
  })
  const powers = (await ask(powersQuery, [role])) as {
    name: string
    isSuper: boolean
    isItself: boolean
    attribute: string
  }[]
  const itself = powers.find(({ isItself }) => isItself)
  // A superuser is a member of every role, and no policy applies to it.
  if (itself?.isSuper)
    return {
      findings: [
        finding(role, 'is a superuser, to which no policy applies', `ALTER ROLE ${quote(role)} NOSUPERUSER;`),
      ],
      tables,
    }
  const policies = (await ask(policiesQuery, [role])) as Policy[]
  const definers = (await ask(definersQuery, [role])) as { name: string }[]
  return {
    findings: [
      ...powers.map(({ name, isItself, attribute }) =>
        isItself
          ? finding(role, `has ${attribute}`, `ALTER ROLE ${quote(role)} NO${attribute};`)
          : finding(role, `is a member of ${name}, to which no policy applies`, revoke(name, role)),
      ),
      ...tables.flatMap((table) => checkTable(table, table.relation, policies, role)),
      ...relations
        .filter(({ isReadable }) => isReadable)
        .flatMap((relation) => checkReadable(relation, listed.has(relation), role)),
      ...definers.map(({ name }) =>
        finding(
          name,
          'is a SECURITY DEFINER function, which reads with the rights of its owner',
          `REVOKE EXECUTE ON ROUTINE ${name} FROM PUBLIC, ${quote(role)};`,
        ),
      ),
    ],
    tables,
  }
}

/** Returns a function that finds the relation of a listed table. @throws UsageError if there is none */
async function finderOf(ask: Ask, relations: readonly FoundRelation[]) {
  const [{ path } = { path: [] }] = (await ask('SELECT current_schemas(false)::text[] AS path', [])) as {
    path: string[]
  }[]
  return ({ schema, name, title }: Config['tables'][number]): FoundRelation => {
    const schemas = schema === undefined ? path : [schema]
    const [relation] = schemas.flatMap((one) =>
      relations.filter((found) => found.schema === one && found.name === name),
    )
    if (relation !== undefined) return relation
    throw new UsageError(`isolation.json: the database has no table ${title}`)
  }
}

function checkTable(
  table: FoundTable,
  relation: FoundRelation,
  policies: readonly Policy[],
  role: string,
): Finding[] {
  const { kind, isSecured, isForced, ownRole, columns } = relation
  const here = (problem: string, fix: string) => finding(titleOf(relation), problem, fix)
  const owned =
    ownRole === null
      ? []
      : ownRole === role
        ? [
            here(
              `${role} owns it`,
              `ALTER TABLE ${nameOf(table)} OWNER TO CURRENT_USER; GRANT SELECT ON ${nameOf(table)} TO ${quote(role)};`,
            ),
          ]
        : [here(`${role} is a member of its owner ${ownRole}`, revoke(ownRole, role))]
  // Its tables have the policies. Other findings name a view that is no security_invoker.
  if (kind === 'v' || kind === 'm') return owned
  if (kind === 'f')
    return [here('is a foreign table, which cannot have row-level security', revokeSelect(table, role))]
  const column = columns?.[table.owner]
  const applied = policies.filter(({ schema, table: name }) => schema === table.schema && name === table.name)
  const conditions = [
    `(${column?.quoted} = ${currentCustomer})`,
    `((${column?.quoted})::text = ${currentCustomer})`,
  ]
  const right = applied.find(({ condition }) => conditions.includes(condition ?? ''))
  const others = applied.filter((policy) => policy !== right)
  const drop = ({ name }: Policy) => `DROP POLICY ${quote(name)} ON ${nameOf(table)};`
  const dropAll = applied.map(drop).join(' ')
  const create = createPolicy(table, role)
  return [
    ...owned,
    ...(isSecured ? [] : [here('has no row-level security', enable(table))]),
    ...(isForced ? [] : [here('has row-level security that does not apply to its owner', force(table))]),
    ...(right === undefined
      ? [
          here(
            others.length === 0
              ? `has no policy for SELECT by ${role}`
              : `has the policy ${others.map(({ name }) => name).join(', ')}, which is not that of ugs-isolation rls print for ${table.owner}`,
            others.length === 0 ? create : `${dropAll} ${create}`,
          ),
        ]
      : others.map((policy) =>
          here(`has the second permissive policy ${policy.name}, which shows further rows`, drop(policy)),
        )),
    ...(column?.isExact === false
      ? [
          here(
            `has the column ${table.owner} with a collation in which different ids are equal`,
            `${dropAll} ALTER TABLE ${nameOf(table)} ALTER COLUMN ${quote(table.owner)} TYPE text COLLATE "C"; ${create}`,
          ),
        ]
      : []),
  ]
}

function checkReadable(relation: FoundRelation, isListed: boolean, role: string): Finding[] {
  const { kind, isInvoker } = relation
  const here = (problem: string, fix: string) => finding(titleOf(relation), problem, fix)
  if (kind === 'm')
    return [here('is a materialized view, which no policy protects', revokeSelect(relation, role))]
  if (kind === 'v')
    return isInvoker
      ? []
      : [
          here(
            'is a view that reads with the rights of its owner',
            `ALTER VIEW ${nameOf(relation)} SET (security_invoker = true);`,
          ),
        ]
  return isListed
    ? []
    : [here(`may be read by ${role}, and isolation.json does not list it`, revokeSelect(relation, role))]
}

function finding(object: string, problem: string, fix: string): Finding {
  return { object, problem, fix }
}

function titleOf({ schema, name }: FoundRelation): string {
  return `${schema}.${name}`
}

function revoke(group: string, role: string): string {
  return `REVOKE ${quote(group)} FROM ${quote(role)};`
}

function revokeSelect(relation: Pick<FoundRelation, 'schema' | 'name'>, role: string): string {
  return `REVOKE SELECT ON ${nameOf(relation)} FROM PUBLIC, ${quote(role)};`
}
