import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getAdmin, type Query } from './call.ts'

/** Of about a tenth of a second each: how long it goes on by itself where pages have few rows, or none. */
const pagesAtOnce = 60

interface Options<Page, Row> {
  readonly queryKey: readonly unknown[]
  /** Of `/admin/v1`. */
  readonly path: string
  readonly query?: Query
  /** Those of a page that are looked for. */
  readonly rowsOf: (page: Page) => readonly Row[]
  /** What `rowsOf` looks for, where the query does not say it. */
  readonly wanted?: string
  /** How many rows are enough, until one asks for more. */
  readonly rowsAtOnce: number
  /** How many a page of the service has; as many as are enough unless it is given. */
  readonly pageSize?: number
  readonly staleTime?: number
  readonly refetchOnMount?: 'always'
}

interface Allowance {
  readonly search: string
  readonly rows: number
  readonly pages: number
}

/** Looks through a list page after page, until there are enough rows to show or it took too long to go on unasked. */
export function usePages<Page extends { readonly next_cursor: string | null }, Row>({
  queryKey,
  path,
  query,
  rowsOf,
  wanted = '',
  rowsAtOnce,
  pageSize = rowsAtOnce,
  ...options
}: Options<Page, Row>) {
  const search = JSON.stringify([queryKey, wanted])
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      getAdmin<Page>(path, { query: { ...query, limit: pageSize, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }: Page) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    ...options,
  })
  const [given, setGiven] = useState<Allowance>()
  const allowance = given?.search === search ? given : { search, rows: rowsAtOnce, pages: pagesAtOnce }

  const { data, hasNextPage, isFetching, isPlaceholderData, isError, fetchNextPage } = pages
  const rows = data?.pages.flatMap(rowsOf) ?? []
  const count = data?.pages.length ?? 0
  const isSearching =
    hasNextPage && !isPlaceholderData && !isError && rows.length < allowance.rows && count < allowance.pages
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage()
  }, [isSearching, isFetching, fetchNextPage])

  return {
    ...pages,
    rows,
    /** It goes on by itself. */
    isSearching,
    /** It stopped before it had looked at all of them or had found enough. */
    hasGivenUp: hasNextPage && !isSearching && rows.length < allowance.rows,
    goOn: () => setGiven({ search, rows: rows.length + rowsAtOnce, pages: count + pagesAtOnce }),
    stop: () => setGiven({ ...allowance, pages: count }),
  }
}
