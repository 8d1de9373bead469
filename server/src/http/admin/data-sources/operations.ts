import { DeletedResponse } from '../fields.ts'
import { deleted, type Operations, tagged } from '../operation.ts'
import { pageById } from '../pages.ts'
import * as schemas from './schemas.ts'

export const dataSourceOperations = tagged('Schemas and data sources', {
  listSchemas: {
    method: 'GET',
    path: '/schemas',
    scope: 'observe',
    summary: 'List the schemas',
    response: schemas.SchemaListResponse,
    handle: async ({ caller }, { dataSources }) => ({
      body: { schemas: await dataSources.listSchemas(caller) },
    }),
  },
  createSchema: {
    method: 'POST',
    path: '/schemas',
    scope: 'admin',
    summary: 'Register a schema',
    description: 'Fails with `in_use` if user groups are mapped to a schema whose id is the same text.',
    retry: { already_exists: 'unknown' },
    body: schemas.SchemaFields,
    status: 201,
    response: schemas.SchemaResponse,
    faults: ['already_exists', 'in_use'],
    handle: async ({ caller, body }, { dataSources }) => {
      const { provided_id, name } = body.value as schemas.SchemaFields
      const schema = await dataSources.createSchema(caller, { providedId: provided_id, name })
      return { body: { schema } }
    },
  },
  deleteSchema: {
    method: 'DELETE',
    path: '/schemas/{id}',
    scope: 'admin',
    summary: 'Delete a schema that has no data sources',
    retry: { not_found: 'succeeded' },
    response: DeletedResponse,
    faults: ['not_found', 'in_use'],
    handle: async ({ caller, params }, { dataSources }) => {
      await dataSources.deleteSchema(caller, params.id as number)
      return deleted
    },
  },
  listDataSources: {
    method: 'GET',
    path: '/data-sources',
    scope: 'observe',
    summary: 'List the data sources',
    description: 'Ordered by id.',
    query: schemas.DataSourceSearch,
    response: schemas.DataSourceListResponse,
    handle: async ({ caller, query }, { dataSources }) => {
      const { schema_id, ...page } = query as schemas.DataSourceSearch
      const ofSchema = schema_id !== undefined && { schemaId: Number(schema_id) }
      const { items, nextCursor } = await pageById(
        page,
        (position) => dataSources.list(caller, { ...ofSchema, ...position }),
        ({ id }) => id,
      )
      return { body: { dataSources: items, nextCursor } }
    },
  },
  createDataSource: {
    method: 'POST',
    path: '/data-sources',
    scope: 'admin',
    summary: 'Register a data source',
    description:
      'Fails with `in_use` if user groups are mapped to a data source whose id is the same text, and with `validation_failed` if the schema does not exist.',
    retry: { already_exists: 'unknown' },
    body: schemas.DataSourceFields,
    status: 201,
    response: schemas.DataSourceResponse,
    faults: ['already_exists', 'in_use'],
    handle: async ({ caller, body }, { dataSources }) => {
      const { schema_id, provided_id, name } = body.value as schemas.DataSourceFields
      const dataSource = await dataSources.create(caller, {
        schemaId: schema_id,
        providedId: provided_id,
        name,
      })
      return { body: { dataSource } }
    },
  },
  deleteDataSource: {
    method: 'DELETE',
    path: '/data-sources/{id}',
    scope: 'admin',
    summary: 'Delete a data source that no user group is mapped to',
    retry: { not_found: 'succeeded' },
    response: DeletedResponse,
    faults: ['not_found', 'in_use'],
    handle: async ({ caller, params }, { dataSources }) => {
      await dataSources.delete(caller, params.id as number)
      return deleted
    },
  },
} as const satisfies Operations)
