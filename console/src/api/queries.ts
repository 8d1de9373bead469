import { queryOptions, useQuery } from '@tanstack/react-query'
import { getAdmin } from './call.ts'
import type { DataSource, Registry } from './registry.ts'
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

const pageSize = 200
const mostPages = 10

/** The first 2,000: there may be one for each customer, and no more of them are looked up at once. */
export const dataSourcesQuery = queryOptions({
  queryKey: ['data-sources'],
  queryFn: async ({ signal }) => {
    const found: DataSource[] = []
    let cursor: string | undefined
    for (let page = 0; page < mostPages; page++) {
      const query = { limit: pageSize, cursor }
      const { data_sources, next_cursor } = await getAdmin<Wire['DataSourceListAnswer']>('/data-sources', {
        query,
        signal,
      })
      found.push(...data_sources)
      if (next_cursor === null) break
      cursor = next_cursor
    }
    return found
  },
})

/** Undefined until both are there. */
export function useRegistry(): Registry | undefined {
  const { data: schemas } = useQuery(schemasQuery)
  const { data: dataSources } = useQuery(dataSourcesQuery)
  return schemas && dataSources && { schemas, dataSources, isWhole: isWhole(dataSources) }
}

/** Whether there are no more than were looked up. */
function isWhole(dataSources: readonly DataSource[]): boolean {
  return dataSources.length < pageSize * mostPages
}
