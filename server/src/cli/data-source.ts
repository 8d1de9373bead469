import type { Command } from 'commander'
import { schemaOfKey, type DataSource, type Schema } from '../domain/data-source/data-source.ts'
import type { DeleteOutcome, DeleteRegistered } from '../domain/data-source/data-source-store.ts'
import type { Store } from '../domain/store.ts'
import { CommandError } from './errors.ts'
import { parseCount, parseName, tenantScopeCommand } from './options.ts'
import { formatTime, printJson, printTable } from './output.ts'
import { callerOf, withStore, type TenantScopeOptions } from './with-store.ts'

const listedAtOnce = 1000

interface CreateOptions extends TenantScopeOptions {
  providedId: string
  name: string
}

interface SchemaOptions extends TenantScopeOptions {
  /** A provided id, or else an id. */
  schema: string
}

export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('Register the schemas that the keys of mappings name.')

  tenantScopeCommand(schema, 'create', 'Register a schema.')
    .requiredOption('--provided-id <id>', 'your id of it', parseName)
    .requiredOption('--name <name>', 'its name', parseName)
    .action(createSchema)

  tenantScopeCommand(schema, 'list', 'List the schemas of an environment.').action(listSchemas)

  tenantScopeCommand(schema, 'delete', 'Remove a schema that has no data sources.')
    .argument('<id>', 'its id, as `ugs schema list` shows it', parseCount)
    .action((id: number, options: TenantScopeOptions) =>
      remove('schema', id, options, 'it has data sources; delete those first', (store, command) =>
        store.dataSources.deleteSchema(command),
      ),
    )
}

export function addDataSourceCommands(program: Command): void {
  const dataSource = program
    .command('data-source')
    .description('Register the data sources that the values of mappings name.')

  tenantScopeCommand(dataSource, 'create', 'Register a data source of a schema.')
    .requiredOption('--schema <id>', 'the provided id of its schema, or its id', parseName)
    .requiredOption('--provided-id <id>', 'your id of it', parseName)
    .requiredOption('--name <name>', 'its name', parseName)
    .action(createDataSource)

  tenantScopeCommand(dataSource, 'list', 'List the data sources of an environment.')
    .option('--schema <id>', 'only those of this schema: its provided id, or its id', parseName)
    .action(listDataSources)

  tenantScopeCommand(dataSource, 'delete', 'Remove a data source that no user group is mapped to.')
    .argument('<id>', 'its id, as `ugs data-source list` shows it', parseCount)
    .action((id: number, options: TenantScopeOptions) =>
      remove(
        'data source',
        id,
        options,
        'user groups are mapped to it; map them to others first',
        (store, command) => store.dataSources.delete(command),
      ),
    )
}

async function createSchema(options: CreateOptions): Promise<void> {
  const made = await withStore(async (store) =>
    store.dataSources.createSchema({
      ...(await callerOf(store, options)),
      providedId: options.providedId,
      name: options.name,
      createdAt: Date.now(),
    }),
  )
  if (made === 'provided_id_taken')
    throw new CommandError(`there is already a schema "${options.providedId}"`)
  if (made === 'provided_id_mapped') throw mapped('schema', options.providedId)
  if (options.json) printJson(shownSchema(made))
  else console.error(`Registered the schema ${made.id} "${made.providedId}".`)
}

async function listSchemas(options: TenantScopeOptions): Promise<void> {
  const schemas = await withStore(async (store) => {
    const { workspaceId, environment } = await callerOf(store, options)
    return (await store.dataSources.listSchemas(workspaceId, environment)).map(shownSchema)
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
  return new CommandError(`there is no schema "${schema}"; \`ugs schema list\` shows those there are`)
}

async function createDataSource(options: CreateOptions & SchemaOptions): Promise<void> {
  const made = await withStore(async (store) => {
    const { id: schemaId } = await findSchema(store, options)
    return store.dataSources.create({
      ...(await callerOf(store, options)),
      schemaId,
      providedId: options.providedId,
      name: options.name,
      createdAt: Date.now(),
    })
  })
  // It was deleted between the two.
  if (made === 'schema_not_found') throw noSchema(options)
  if (made === 'provided_id_taken')
    throw new CommandError(`the schema has a data source "${options.providedId}" already`)
  if (made === 'provided_id_mapped') throw mapped('data source', options.providedId)
  if (options.json) printJson(shownDataSource(made))
  else console.error(`Registered the data source ${made.id} "${made.providedId}".`)
}

/** With it as a provided id, those mappings would mean another one. */
function mapped(what: string, providedId: string): CommandError {
  return new CommandError(
    `user groups are mapped to the ${what} whose id is ${providedId}, by that id; choose another provided id`,
  )
}

async function listDataSources(options: TenantScopeOptions & Partial<SchemaOptions>): Promise<void> {
  const { schema } = options
  const dataSources = await withStore(async (store) => {
    const { workspaceId, environment } = await callerOf(store, options)
    const ofSchema = schema !== undefined && {
      schemaId: (await findSchema(store, { ...options, schema })).id,
    }
    const query = { workspaceId, environment, ...ofSchema, limit: listedAtOnce }
    const all: DataSource[] = []
    for (let afterId: number | null = null; ; afterId = all.at(-1)?.id ?? null) {
      const page = await store.dataSources.list({ ...query, afterId })
      all.push(...page)
      if (page.length < listedAtOnce) return all.map(shownDataSource)
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

type DeleteIn = (store: Store, command: DeleteRegistered) => Promise<DeleteOutcome>

async function remove(
  what: string,
  id: number,
  options: TenantScopeOptions,
  inUse: string,
  deleteIn: DeleteIn,
): Promise<void> {
  const outcome = await withStore(async (store) =>
    deleteIn(store, { ...(await callerOf(store, options)), id, now: Date.now() }),
  )
  if (outcome === 'not_found') throw new CommandError(`there is no ${what} ${id} in this environment`)
  if (outcome === 'in_use') throw new CommandError(`the ${what} ${id} stays: ${inUse}`)
  if (options.json) printJson({ deleted: true, id })
  else console.error(`The ${what} ${id} is deleted.`)
}

function shownSchema(schema: Schema) {
  return {
    id: schema.id,
    provided_id: schema.providedId,
    name: schema.name,
    created_at: formatTime(schema.createdAt),
  }
}

function shownDataSource(dataSource: DataSource) {
  return {
    id: dataSource.id,
    schema_id: dataSource.schemaId,
    provided_id: dataSource.providedId,
    name: dataSource.name,
    created_at: formatTime(dataSource.createdAt),
  }
}
