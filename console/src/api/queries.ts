import { queryOptions, useQuery } from '@tanstack/react-query'
import { getAdmin } from './request.ts'
import type { DataSource, Registry } from './registry.ts'
import type { Wire } from './wire.ts'

/** Queries that several pages share. Their keys begin with the name of the resource. */
export const apiTokensQuery = queryOptions({
  queryKey: ['api-tokens'],
  queryFn: async ({ signal }) =>
    (await getAdmin<Wire['ApiTokenListResponse']>('/api-tokens', { signal })).api_tokens,
})

/** The last sign-in of a person. */
export const signInQuery = (author: string) =>
  queryOptions({
    queryKey: ['audit-events', 'sign-in', author],
    queryFn: ({ signal }) => {
      const query = { action: 'console_session.created', author, limit: 1 }
      return getAdmin<Wire['AuditEventListResponse']>('/audit-events', { query, signal })
    },
    staleTime: Infinity,
  })

export const schemasQuery = queryOptions({
  queryKey: ['schemas'],
  queryFn: async ({ signal }) => (await getAdmin<Wire['SchemaListResponse']>('/schemas', { signal })).schemas,
})

const pageSize = 200
const maxPages = 10

/** Loads the first 2,000 only: there may be one for each customer. */
export const dataSourcesQuery = queryOptions({
  queryKey: ['data-sources'],
  queryFn: async ({ signal }) => {
    const found: DataSource[] = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const query = { limit: pageSize, cursor }
      const { data_sources, next_cursor } = await getAdmin<Wire['DataSourceListResponse']>('/data-sources', {
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

/** Undefined until both are loaded. */
export function useRegistry(): Registry | undefined {
  const { data: schemas } = useQuery(schemasQuery)
  const { data: dataSources } = useQuery(dataSourcesQuery)
  return schemas && dataSources && { schemas, dataSources, isWhole: isWhole(dataSources) }
}

/** True if the list is complete. */
function isWhole(dataSources: readonly DataSource[]): boolean {
  return dataSources.length < pageSize * maxPages
}
