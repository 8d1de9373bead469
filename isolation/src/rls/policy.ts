import type { Config, ListedTable } from '../config.ts'
import { quote } from '../databases/database.ts'
import { UsageError } from '../errors.ts'

/** A table of which a customer owns rows, by a column. */
export interface ProtectedTable extends ListedTable {
  readonly owner: string
}

/** The setting of a transaction that names its customer, in the form in which PostgreSQL prints a policy. */
export const currentCustomer = "NULLIF(current_setting('ugs.user_group_id'::text, true), ''::text)"

/** Returns the tables with a column. @throws UsageError if one has a condition, or another dialect is configured */
export function protectedTables({ dialect = 'postgresql', tables }: Config): ProtectedTable[] {
  if (dialect !== 'postgresql')
    throw new UsageError(
      `isolation.json: "dialect" is ${dialect}, and row-level security is for postgresql only`,
    )
  return tables.filter((table): table is ProtectedTable => {
    if (table.owner?.includes('{{'))
      throw new UsageError(
        `isolation.json: "tables": ${table.title} has a condition, and row-level security needs the column of the customer's id: add such a column to the table`,
      )
    return table.owner !== null
  })
}

/** Returns the SQL that creates the role and its policies. @throws UsageError */
export function rlsSql(config: Config): string {
  const role = quote(config.role)
  const protectedOnes = protectedTables(config)
  const schemas = new Set(config.tables.flatMap(({ schema }) => schema ?? []))
  const lines = [
    '-- Run as a superuser or the owner of the tables.',
    '-- All other roles, also the owner, then see no rows of the protected tables without BYPASSRLS or a policy of their own.',
    'BEGIN;',
    `CREATE ROLE ${role} LOGIN NOSUPERUSER NOBYPASSRLS;`,
    ...[...schemas].map((schema) => `GRANT USAGE ON SCHEMA ${quote(schema)} TO ${role};`),
    ...config.tables.flatMap((table) => [
      ...(protectedOnes.some(({ title }) => title === table.title)
        ? [enable(table), force(table), createPolicy(table as ProtectedTable, config.role)]
        : []),
      `GRANT SELECT ON ${nameOf(table)} TO ${role};`,
    ]),
    'COMMIT;',
  ]
  return lines.join('\n')
}

export function enable(table: Named): string {
  return `ALTER TABLE ${nameOf(table)} ENABLE ROW LEVEL SECURITY;`
}

export function force(table: Named): string {
  return `ALTER TABLE ${nameOf(table)} FORCE ROW LEVEL SECURITY;`
}

/** The cast makes the comparison one of texts for columns of every type. That of a text column changes nothing. */
export function createPolicy(table: Named & Pick<ProtectedTable, 'owner'>, role: string): string {
  return (
    `CREATE POLICY ugs_isolation ON ${nameOf(table)} FOR SELECT TO ${quote(role)} ` +
    `USING (${quote(table.owner)}::text = nullif(current_setting('ugs.user_group_id', true), ''));`
  )
}

type Named = Pick<ListedTable, 'schema' | 'name'>

export function nameOf({ schema, name }: Named): string {
  return schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`
}
