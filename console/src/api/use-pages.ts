import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { getAdmin, type Query } from './request.ts'

/** Maximum number of pages to load without asking, of about a tenth of a second each, while they have few rows. */
const maxPages = 60

/** Rows per page after the first one, which is short to appear soon. It is the maximum of the service. */
const nextRows = 200

interface Options<Page, Row> {
  readonly queryKey: readonly unknown[]
  /** Cursor query parameter of `/admin/v1`. */
  readonly path: string
  readonly query?: Query
  /** Additional parameters of the first page. */
  readonly firstQuery?: Query
  /** Returns the wanted rows of a page. */
  readonly rowsOf: (page: Page) => readonly Row[]
  /** The part of the search that `rowsOf` applies and the query does not contain. */
  readonly wanted?: string
  /** Number of rows to load before asking. */
  readonly pageRows: number
  /** Rows of the first page of the service. Default: `pageRows`. */
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
  firstQuery = {},
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
      getAdmin<Page>(path, {
        query:
          cursor === undefined
            ? { ...query, ...firstQuery, limit: pageSize }
            : { ...query, limit: nextRows, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    ...options,
  })
  const [given, setGiven] = useState<Allowance>()
  const allowance = given?.search === search ? given : { search, rows: pageRows, pages: maxPages }

  const { data, hasNextPage, isFetching, isPlaceholderData, isError, fetchNextPage } = pages
  // The same array until the pages change, so that long lists are not rendered again.
  const rows = useMemo(() => data?.pages.flatMap((page) => rowsOf(page)) ?? [], [data, search])
  const count = data?.pages.length ?? 0
  const isSearching =
    hasNextPage && !isPlaceholderData && !isError && rows.length < allowance.rows && count < allowance.pages
  useEffect(() => {
    // Two lists may share the pages: do not cancel the request of the other one.
    if (isSearching && !isFetching) void fetchNextPage({ cancelRefetch: false })
    // `count`, because a page can arrive before the component renders that it is fetched.
  }, [isSearching, isFetching, count, fetchNextPage])

  const hasGivenUp = hasNextPage && !isSearching && rows.length < allowance.rows
  const goOn = () => setGiven({ search, rows: rows.length + nextRows, pages: count + maxPages })
  return {
    ...pages,
    rows,
    /** True while it loads more pages automatically. */
    isSearching,
    /** True if it stopped before the end of the list without enough rows. */
    hasGivenUp,
    goOn,
    /** Loads more if the user scrolls to the end. Undefined if there is nothing more, or only after asking. */
    onEnd: hasNextPage && !isSearching && !hasGivenUp && !isError ? goOn : undefined,
    stop: () => setGiven({ ...allowance, pages: count }),
  }
}
