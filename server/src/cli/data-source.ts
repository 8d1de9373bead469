import type { Command } from 'commander'
import { CommandError } from './errors.ts'
import { actions, byId, type Management } from './management.ts'
import { parseCount, parseName, tenantScopeCommand } from './options.ts'
import type { TenantScopeOptions } from './with-store.ts'

interface CreateOptions extends TenantScopeOptions {
  providedId: string
  name: string
}

interface SchemaOption {
  /** Provided id or id. */
  schema: string
}

const resource = {
  load: async () => (await import('../http/admin/data-sources/operations.ts')).dataSourceOperations,
}
const { runs, lists } = actions(resource)

export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('Register schemas, which are the keys of mappings.')
  tenantScopeCommand(schema, 'create', 'Register a schema.')
    .requiredOption('--provided-id <id>', 'id that you assign', parseName)
    .requiredOption('--name <name>', 'name', parseName)
    .action(
      runs(
        'createSchema',
        ({ providedId, name }: CreateOptions) => ({ body: { provided_id: providedId, name } }),
        ({ schema }) => ({
          json: schema,
          message: `Registered schema ${schema.id} "${schema.provided_id}".`,
        }),
      ),
    )
  tenantScopeCommand(schema, 'list', 'List the schemas of an environment.').action(
    lists('listSchemas', 'schemas', ['id', 'provided_id', 'name', 'created_at']),
  )
  tenantScopeCommand(schema, 'delete', 'Delete a schema that has no data sources.')
    .argument('<id>', 'id from `ugs schema list`', parseCount)
    .action(runs('deleteSchema', byId, (json, id) => ({ json, message: `Deleted the schema ${id}.` })))
}

export function addDataSourceCommands(program: Command): void {
  const dataSource = program
    .command('data-source')
    .description('Register data sources, which are the values of mappings.')
  tenantScopeCommand(dataSource, 'create', 'Register a data source of a schema.')
    .requiredOption('--schema <id>', 'provided id or id of its schema', parseName)
    .requiredOption('--provided-id <id>', 'id that you assign', parseName)
    .requiredOption('--name <name>', 'name', parseName)
    .action(
      runs(
        'createDataSource',
        async ({ schema, providedId, name }: CreateOptions & SchemaOption, _, management) => ({
          body: { schema_id: await schemaIdOf(management, schema), provided_id: providedId, name },
        }),
        ({ data_source }) => ({
          json: data_source,
          message: `Registered data source ${data_source.id} "${data_source.provided_id}".`,
        }),
      ),
    )
  tenantScopeCommand(dataSource, 'list', 'List the data sources of an environment.')
    .option('--schema <id>', 'only data sources of the schema with this provided id or id', parseName)
    .action(
      lists(
        'listDataSources',
        'data_sources',
        ['id', 'schema_id', 'provided_id', 'name', 'created_at'],
        async ({ schema }: TenantScopeOptions & Partial<SchemaOption>, _, management) => ({
          query: { schema_id: schema && String(await schemaIdOf(management, schema)) },
        }),
      ),
    )
  tenantScopeCommand(dataSource, 'delete', 'Delete a data source that no user group is mapped to.')
    .argument('<id>', 'id from `ugs data-source list`', parseCount)
    .action(
      runs('deleteDataSource', byId, (json, id) => ({ json, message: `Deleted the data source ${id}.` })),
    )
}

/** A provided id takes precedence over an id with the same text, as in mappings. */
async function schemaIdOf(management: Management<'listSchemas'>, schema: string): Promise<number> {
  const { schemas } = await management.call('listSchemas')
  const found =
    schemas.find(({ provided_id }) => provided_id === schema) ??
    schemas.find(({ id }) => String(id) === schema)
  if (found === undefined) throw new CommandError(`there is no schema "${schema}"; see \`ugs schema list\``)
  return found.id
}
