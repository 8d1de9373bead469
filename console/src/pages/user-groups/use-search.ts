import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getAdmin } from '../../api/call.ts'
import type { Wire } from '../../api/wire.ts'
import { complete, type UserGroupSearch } from './search.ts'

const rowsAtOnce = 50
/** Of about a tenth of a second each: how long it goes on by itself where few user groups match. */
const pagesAtOnce = 60

interface Allowance {
  readonly search: string
  readonly rows: number
  readonly pages: number
}

/** Looks for user groups page after page, until there are enough to show or it took too long to go on unasked. */
export function useSearch(search: UserGroupSearch) {
  const asked = complete(search)
  const key = JSON.stringify(asked)
  const query = useInfiniteQuery({
    queryKey: ['user-groups', 'search', asked],
    queryFn: ({ pageParam, signal }) =>
      getAdmin<Wire['UserGroupListAnswer']>('/user-groups', {
        query: { ...asked, limit: rowsAtOnce, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  })
  const [given, setGiven] = useState<Allowance>()
  const allowance = given?.search === key ? given : { search: key, rows: rowsAtOnce, pages: pagesAtOnce }

  const { data, hasNextPage, isFetching, isPlaceholderData, isError, fetchNextPage } = query
  const rows = data?.pages.flatMap(({ user_groups }) => user_groups) ?? []
  const pages = data?.pages.length ?? 0
  const goesOn =
    hasNextPage && !isPlaceholderData && !isError && rows.length < allowance.rows && pages < allowance.pages
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage()
  }, [goesOn, isFetching, fetchNextPage])

  return {
    ...query,
    rows,
    isFiltered: Object.keys(asked).length > 0,
    /** It goes on by itself. */
    isSearching: goesOn,
    /** It stopped before it had looked at all of them or had found enough. */
    hasGivenUp: hasNextPage && !goesOn && rows.length < allowance.rows,
    goOn: () => setGiven({ search: key, rows: rows.length + rowsAtOnce, pages: pages + pagesAtOnce }),
    stop: () => setGiven({ ...allowance, pages }),
  }
}
