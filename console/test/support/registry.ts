import { assertSucceeded, type AdminApi } from '../../../server/test/support/admin-api.ts'

/** Registers a schema with these data sources, named like their provided ids. Returns the ids of the service. */
export async function register(
  admin: AdminApi,
  schema: string,
  dataSources: readonly string[] = [],
): Promise<{ readonly schemaId: number; readonly dataSourceIds: readonly number[] }> {
  const created = await admin.createSchema({ body: { provided_id: schema, name: schema } })
  const schemaId = assertSucceeded<{ schema: { id: number } }>(created, 'createSchema').schema.id
  const dataSourceIds: number[] = []
  for (const dataSource of dataSources) {
    const response = await admin.createDataSource({
      body: { schema_id: schemaId, provided_id: dataSource, name: dataSource },
    })
    const { data_source: registered } = assertSucceeded<{ data_source: { id: number } }>(
      response,
      'createDataSource',
    )
    dataSourceIds.push(registered.id)
  }
  return { schemaId, dataSourceIds }
}
