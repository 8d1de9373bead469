import { Type, type Static } from 'typebox'
import { json, object, successful, time, type Members } from '../../../contract/json/json-builder.ts'
import { wholeNumber } from '../../../contract/patterns.ts'
import type { DataSource, Schema } from '../../../domain/data-source/data-source.ts'
import { DeletedResponse, PageQuery } from '../fields.ts'
import { deleted, type AdminOperation } from '../operation.ts'
import { listResponse, pageById } from '../pages.ts'
import * as schemas from './schemas.ts'

const tag = 'Schemas and data sources'

const dataSourceQuery = Type.Object(
  {
    schema_id: Type.Optional(
      Type.String({ description: 'Id of a schema: only its data sources.', pattern: wholeNumber }),
    ),
    ...PageQuery.properties,
  },
  { additionalProperties: false },
)

export const dataSourceOperations = {
  listSchemas: {
    tag,
    method: 'GET',
    path: '/schemas',
    summary: 'List the schemas',
    response: schemas.SchemaListResponse,
    handle: async ({ caller }, { dataSources }) => ({
      json: listResponse('schemas', await dataSources.listSchemas(caller), schemaJson),
    }),
  },
  createSchema: {
    tag,
    method: 'POST',
    path: '/schemas',
    summary: 'Register a schema',
    body: schemas.SchemaBody,
    status: 201,
    response: schemas.SchemaResponse,
    faults: ['already_exists', 'in_use'],
    handle: async ({ caller, body }, { dataSources }) => {
      const { provided_id, name } = body.value as schemas.SchemaBody
      const schema = await dataSources.createSchema(caller, { providedId: provided_id, name })
      return { json: successful({ schema: schemaJson(schema) }) }
    },
  },
  deleteSchema: {
    tag,
    method: 'DELETE',
    path: '/schemas/{id}',
    summary: 'Delete a schema that has no data sources',
    response: DeletedResponse,
    faults: ['not_found', 'in_use'],
    handle: async ({ caller, params }, { dataSources }) => {
      await dataSources.deleteSchema(caller, params.id as number)
      return deleted
    },
  },
  listDataSources: {
    tag,
    method: 'GET',
    path: '/data-sources',
    summary: 'List the data sources',
    description: 'Ordered by id.',
    query: dataSourceQuery,
    response: schemas.DataSourceListResponse,
    handle: ({ caller, query }, { dataSources }) => {
      const { schema_id, ...page } = query as Static<typeof dataSourceQuery>
      const ofSchema = schema_id !== undefined && { schemaId: Number(schema_id) }
      return pageById(
        'data_sources',
        page,
        (position) => dataSources.list(caller, { ...ofSchema, ...position }),
        { idOf: ({ id }) => id, jsonOf: dataSourceJson },
      )
    },
  },
  createDataSource: {
    tag,
    method: 'POST',
    path: '/data-sources',
    summary: 'Register a data source',
    body: schemas.DataSourceBody,
    status: 201,
    response: schemas.DataSourceResponse,
    faults: ['already_exists', 'in_use'],
    handle: async ({ caller, body }, { dataSources }) => {
      const { schema_id, provided_id, name } = body.value as schemas.DataSourceBody
      const dataSource = await dataSources.create(caller, {
        schemaId: schema_id,
        providedId: provided_id,
        name,
      })
      return { json: successful({ data_source: dataSourceJson(dataSource) }) }
    },
  },
  deleteDataSource: {
    tag,
    method: 'DELETE',
    path: '/data-sources/{id}',
    summary: 'Delete a data source that no user group is mapped to',
    response: DeletedResponse,
    faults: ['not_found', 'in_use'],
    handle: async ({ caller, params }, { dataSources }) => {
      await dataSources.delete(caller, params.id as number)
      return deleted
    },
  },
} as const satisfies Record<string, AdminOperation>

const registered = ({ id, providedId, name, createdAt }: Schema | DataSource): Members => ({
  id: json(id),
  provided_id: json(providedId),
  name: json(name),
  created_at: time(createdAt),
})

const schemaJson = (schema: Schema) => object(registered(schema))

const dataSourceJson = (dataSource: DataSource) =>
  object({ ...registered(dataSource), schema_id: json(dataSource.schemaId) })
