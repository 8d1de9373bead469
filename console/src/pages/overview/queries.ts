import { queryOptions } from '@tanstack/react-query'
import { getAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'

/** A number of list entries. */
export type Total = Wire['Total']

export type Overview = Wire['OverviewResponse']

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => getAdmin<Overview>('/overview', { signal }),
})
