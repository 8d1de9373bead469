import type { Command } from 'commander'
import { UsageError } from './errors.ts'
import { parseName } from './options.ts'

/** Options that select user groups. */
export interface CriteriaOptions {
  readonly text?: string
  readonly idPrefix?: string
  readonly name?: string
  readonly property?: string
  readonly value?: string
  readonly schema?: string
  readonly dataSource?: string
  readonly suspended?: boolean
}

export function addCriteria(command: Command): Command {
  return command
    .option('--text <text>', 'part of the id or of the name; case and accents are ignored', parseName)
    .option('--id-prefix <text>', 'beginning of the id', parseName)
    .option('--name <text>', 'part of the name; case and accents are ignored', parseName)
    .option('--property <pointer>', 'JSON Pointer into the properties, such as /plan; requires --value')
    .option('--value <text>', 'value of the property: a string, number or boolean')
    .option('--schema <key>', 'key of a mapping entry; requires --data-source', parseName)
    .option('--data-source <key>', 'value of the mapping entry; requires --schema', parseName)
    .option('--suspended', 'only suspended user groups')
    .option('--no-suspended', 'only user groups that are not suspended')
}

/** Returns the search criteria of a query. @throws UsageError if one of two options is given without the other */
export function criteriaOf({
  text,
  idPrefix,
  name,
  property,
  value,
  schema,
  dataSource,
  suspended,
}: CriteriaOptions) {
  if ((property === undefined) !== (value === undefined))
    throw new UsageError('--property and --value go together')
  if ((schema === undefined) !== (dataSource === undefined))
    throw new UsageError('--schema and --data-source go together')
  const all = {
    text,
    user_group_id_prefix: idPrefix,
    name,
    property,
    property_value: value,
    schema,
    data_source: dataSource,
    suspended: suspended === undefined ? undefined : suspended ? ('true' as const) : ('false' as const),
  }
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined)) as {
    [Name in keyof typeof all]?: NonNullable<(typeof all)[Name]>
  }
}
