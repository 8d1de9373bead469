import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getAdmin } from '../../api/call.ts'
import type { Wire } from '../../api/wire.ts'

export type Finding = Wire['IsolationAnswer']['findings'][number]

const rowsAtOnce = 25
/** Pages may be empty: how many it asks for by itself. */
const pagesAtOnce = 60

/** Looks for findings page after page, until there are enough to show. */
export function useFindings() {
  const query = useInfiniteQuery({
    queryKey: ['isolation-findings'],
    queryFn: ({ pageParam, signal }) =>
      getAdmin<Wire['IsolationAnswer']>('/isolation-findings', {
        query: { limit: rowsAtOnce, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchOnWindowFocus: false,
    // What it tells may have been mended on another page.
    refetchOnMount: 'always',
  })
  const [allowed, setAllowed] = useState({ rows: rowsAtOnce, pages: pagesAtOnce })
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query
  const findings = data?.pages.flatMap((page) => page.findings) ?? []
  const pages = data?.pages.length ?? 0
  const isSearching = hasNextPage && !isError && findings.length < allowed.rows && pages < allowed.pages
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage()
  }, [isSearching, isFetching, fetchNextPage])
  return {
    ...query,
    findings,
    isSearching,
    goOn: () => setAllowed({ rows: findings.length + rowsAtOnce, pages: pages + pagesAtOnce }),
  }
}
