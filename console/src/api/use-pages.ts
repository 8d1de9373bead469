import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getAdmin, type Query } from './request.ts'

/** Maximum number of pages to load without asking, of about a tenth of a second each, while they have few rows. */
const maxPages = 60

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
  readonly pageRows: number
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
  query = {},
  rowsOf,
  wanted = '',
  pageRows,
  pageSize = pageRows,
  ...options
}: Options<Page, Row>) {
  const search = JSON.stringify([queryKey, wanted])
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: cursor, signal }) =>
      getAdmin<Page>(path, { query: { ...query, limit: pageSize, cursor }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    ...options,
  })
  const [given, setGiven] = useState<Allowance>()
  const allowance = given?.search === search ? given : { search, rows: pageRows, pages: maxPages }

  const { data, hasNextPage, isFetching, isPlaceholderData, isError, fetchNextPage } = pages
  const rows = data?.pages.flatMap((page) => rowsOf(page)) ?? []
  const count = data?.pages.length ?? 0
  const isSearching =
    hasNextPage && !isPlaceholderData && !isError && rows.length < allowance.rows && count < allowance.pages
  useEffect(() => {
    // Two lists may share the pages: do not cancel the request of the other one.
    if (isSearching && !isFetching) void fetchNextPage({ cancelRefetch: false })
  }, [isSearching, isFetching, fetchNextPage])

  return {
    ...pages,
    rows,
    /** True while it loads more pages automatically. */
    isSearching,
    /** True if it stopped before the end of the list without enough rows. */
    hasGivenUp: hasNextPage && !isSearching && rows.length < allowance.rows,
    goOn: () => setGiven({ search, rows: rows.length + pageRows, pages: count + maxPages }),
    stop: () => setGiven({ ...allowance, pages: count }),
  }
}
