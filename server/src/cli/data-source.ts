import type { Command } from 'commander'
import { schemaOfKey, type DataSource, type Schema } from '../domain/data-source/data-source.ts'
import type { DeleteOutcome, DeleteRegistered } from '../domain/data-source/data-source-store.ts'
import type { Store } from '../domain/store.ts'
import { CommandError } from './errors.ts'
import { parseCount, parseName, tenantScopeCommand } from './options.ts'
import { formatTime, printJson, printMessage, printTable } from './output.ts'
import { callerOf, withStore, type TenantScopeOptions } from './with-store.ts'

const pageSize = 1000

interface CreateOptions extends TenantScopeOptions {
  providedId: string
  name: string
}

interface SchemaOptions extends TenantScopeOptions {
  /** Provided id or id. */
  schema: string
}

export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('Register schemas, which are the keys of mappings.')

  tenantScopeCommand(schema, 'create', 'Register a schema.')
    .requiredOption('--provided-id <id>', 'id that you assign', parseName)
    .requiredOption('--name <name>', 'name', parseName)
    .action(createSchema)

  tenantScopeCommand(schema, 'list', 'List the schemas of an environment.').action(listSchemas)

  tenantScopeCommand(schema, 'delete', 'Delete a schema that has no data sources.')
    .argument('<id>', 'id from `ugs schema list`', parseCount)
    .action((id: number, options: TenantScopeOptions) =>
      remove('schema', id, options, 'it has data sources; delete them first', (store, command) =>
        store.dataSources.deleteSchema(command),
      ),
    )
}

export function addDataSourceCommands(program: Command): void {
  const dataSource = program
    .command('data-source')
    .description('Register data sources, which are the values of mappings.')

  tenantScopeCommand(dataSource, 'create', 'Register a data source of a schema.')
    .requiredOption('--schema <id>', 'provided id or id of its schema', parseName)
    .requiredOption('--provided-id <id>', 'id that you assign', parseName)
    .requiredOption('--name <name>', 'name', parseName)
    .action(createDataSource)

  tenantScopeCommand(dataSource, 'list', 'List the data sources of an environment.')
    .option('--schema <id>', 'only data sources of the schema with this provided id or id', parseName)
    .action(listDataSources)

  tenantScopeCommand(dataSource, 'delete', 'Delete a data source that no user group is mapped to.')
    .argument('<id>', 'id from `ugs data-source list`', parseCount)
    .action((id: number, options: TenantScopeOptions) =>
      remove(
        'data source',
        id,
        options,
        'user groups are mapped to it; change their mappings first',
        (store, command) => store.dataSources.delete(command),
      ),
    )
}

async function createSchema(options: CreateOptions): Promise<void> {
  const result = await withStore(async (store) =>
    store.dataSources.createSchema({
      ...(await callerOf(store, options)),
      providedId: options.providedId,
      name: options.name,
      createdAt: Date.now(),
    }),
  )
  if (result === 'provided_id_taken')
    throw new CommandError(`there is already a schema "${options.providedId}"`)
  if (result === 'provided_id_mapped') throw providedIdMapped('schema', options.providedId)
  if (options.json) printJson(schemaFields(result))
  else printMessage(`Registered schema ${result.id} "${result.providedId}".`)
}

async function listSchemas(options: TenantScopeOptions): Promise<void> {
  const schemas = await withStore(async (store) => {
    const { workspaceId, environment } = await callerOf(store, options)
    return (await store.dataSources.listSchemas(workspaceId, environment)).map(schemaFields)
  })
  if (options.json) printJson(schemas)
  else {
    printTable(
      ['ID', 'PROVIDED_ID', 'NAME', 'CREATED'],
      schemas.map(({ id, provided_id, name, created_at }) => [id, provided_id, name, created_at]),
    )
  }
}

async function findSchema(store: Store, options: SchemaOptions): Promise<Schema> {
  const { workspaceId, environment } = await callerOf(store, options)
  const schema = schemaOfKey(await store.dataSources.listSchemas(workspaceId, environment), options.schema)
  if (schema === undefined) throw noSchema(options)
  return schema
}

function noSchema({ schema }: SchemaOptions): CommandError {
  return new CommandError(`there is no schema "${schema}"; see \`ugs schema list\``)
}

async function createDataSource(options: CreateOptions & SchemaOptions): Promise<void> {
  const result = await withStore(async (store) => {
    const { id: schemaId } = await findSchema(store, options)
    return store.dataSources.create({
      ...(await callerOf(store, options)),
      schemaId,
      providedId: options.providedId,
      name: options.name,
      createdAt: Date.now(),
    })
  })
  // Another command deleted the schema after findSchema.
  if (result === 'schema_not_found') throw noSchema(options)
  if (result === 'provided_id_taken')
    throw new CommandError(`the schema already has a data source "${options.providedId}"`)
  if (result === 'provided_id_mapped') throw providedIdMapped('data source', options.providedId)
  if (options.json) printJson(dataSourceFields(result))
  else printMessage(`Registered data source ${result.id} "${result.providedId}".`)
}

/** Explains that the provided id would change the meaning of mappings that use the same text as an id. */
function providedIdMapped(noun: string, providedId: string): CommandError {
  return new CommandError(
    `${providedId} is the id of a ${noun} to which user groups are mapped; choose another provided id`,
  )
}

async function listDataSources(options: TenantScopeOptions & Partial<SchemaOptions>): Promise<void> {
  const { schema } = options
  const dataSources = await withStore(async (store) => {
    const { workspaceId, environment } = await callerOf(store, options)
    const schemaFilter = schema !== undefined && {
      schemaId: (await findSchema(store, { ...options, schema })).id,
    }
    const query = { workspaceId, environment, ...schemaFilter, limit: pageSize }
    const all: DataSource[] = []
    for (let afterId: number | null = null; ; afterId = all.at(-1)?.id ?? null) {
      const page = await store.dataSources.list({ ...query, afterId })
      all.push(...page)
      if (page.length < pageSize) return all.map(dataSourceFields)
    }
  })
  if (options.json) printJson(dataSources)
  else {
    printTable(
      ['ID', 'SCHEMA', 'PROVIDED_ID', 'NAME', 'CREATED'],
      dataSources.map((source) => [
        source.id,
        source.schema_id,
        source.provided_id,
        source.name,
        source.created_at,
      ]),
    )
  }
}

type DeleteRegisteredIn = (store: Store, command: DeleteRegistered) => Promise<DeleteOutcome>

async function remove(
  noun: string,
  id: number,
  options: TenantScopeOptions,
  reasonInUse: string,
  deleteRegistered: DeleteRegisteredIn,
): Promise<void> {
  const outcome = await withStore(async (store) =>
    deleteRegistered(store, { ...(await callerOf(store, options)), id, now: Date.now() }),
  )
  if (outcome === 'not_found') throw new CommandError(`there is no ${noun} ${id} in this environment`)
  if (outcome === 'in_use') throw new CommandError(`the ${noun} ${id} cannot be deleted: ${reasonInUse}`)
  if (options.json) printJson({ deleted: true, id })
  else printMessage(`Deleted the ${noun} ${id}.`)
}

function schemaFields(schema: Schema) {
  return {
    id: schema.id,
    provided_id: schema.providedId,
    name: schema.name,
    created_at: formatTime(schema.createdAt),
  }
}

function dataSourceFields(dataSource: DataSource) {
  return {
    id: dataSource.id,
    schema_id: dataSource.schemaId,
    provided_id: dataSource.providedId,
    name: dataSource.name,
    created_at: formatTime(dataSource.createdAt),
  }
}
