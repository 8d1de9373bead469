import { queryOptions, useQuery } from '@tanstack/react-query'
import { getAdmin } from './call.ts'
import type { Registry } from './registry.ts'
import type { Wire } from './wire.ts'

/** What several pages look up. Their keys begin with the name of the resource. */
export const apiTokensQuery = queryOptions({
  queryKey: ['api-tokens'],
  queryFn: async ({ signal }) =>
    (await getAdmin<Wire['ApiTokenListAnswer']>('/api-tokens', { signal })).api_tokens,
})

export const schemasQuery = queryOptions({
  queryKey: ['schemas'],
  queryFn: async ({ signal }) => (await getAdmin<Wire['SchemaListAnswer']>('/schemas', { signal })).schemas,
})

export const dataSourcesQuery = queryOptions({
  queryKey: ['data-sources'],
  queryFn: async ({ signal }) =>
    (await getAdmin<Wire['DataSourceListAnswer']>('/data-sources', { signal })).data_sources,
})

/** Undefined until both are there. */
export function useRegistry(): Registry | undefined {
  const { data: schemas } = useQuery(schemasQuery)
  const { data: dataSources } = useQuery(dataSourcesQuery)
  return schemas && dataSources && { schemas, dataSources }
}
