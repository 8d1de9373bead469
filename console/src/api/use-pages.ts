import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getAdmin, type Query } from './request.ts'

/** Maximum number of pages to load without asking, of about a tenth of a second each, while they have few rows. */
const pagesAtOnce = 60

interface Options<Page, Row> {
  readonly queryKey: readonly unknown[]
  /** Cursor query parameter of `/admin/v1`. */
  readonly path: string
  readonly query?: Query
  /** Returns the wanted rows of a page. */
  readonly rowsOf: (page: Page) => readonly Row[]
  /** The part of the search that `rowsOf` applies and the query does not contain. */
  readonly wanted?: string
  /** Number of rows to load before asking. */
  readonly rowsAtOnce: number
  /** Rows per page of the service. Default: `enough`. */
  readonly pageSize?: number
  readonly staleTime?: number
  readonly refetchOnMount?: 'always'
}

interface Allowance {
  readonly search: string
  readonly rows: number
  readonly pages: number
}

/** Loads a list page by page, until there are enough rows to show or loading takes too long. */
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
    /** True while it loads more pages automatically. */
    isSearching,
    /** True if it stopped before the end of the list without enough rows. */
    hasGivenUp: hasNextPage && !isSearching && rows.length < allowance.rows,
    goOn: () => setGiven({ search, rows: rows.length + rowsAtOnce, pages: count + pagesAtOnce }),
    stop: () => setGiven({ ...allowance, pages: count }),
  }
}
