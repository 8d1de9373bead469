import type { Total } from '../../api/jobs.ts'
import { usePages } from '../../api/use-pages.ts'
import type { ListedUserGroup, Wire } from '../../api/wire.ts'
import { filterOf, type UserGroupSearch } from './search.ts'

type Page = Wire['UserGroupListResponse'] & { readonly total?: Total }

/** Loads the user groups that match the search, and their number. */
export function useSearch(search: UserGroupSearch) {
  const filter = filterOf(search)
  const { sort, order } = search
  const query = { ...filter, sort, order }
  const found = usePages<Page, ListedUserGroup>({
    queryKey: ['user-groups', 'search', query],
    path: '/user-groups',
    query,
    firstQuery: { total: true },
    rowsOf: ({ user_groups }) => user_groups,
    pageRows: 50,
    // The service examines each user group for its health.
    pageSize: search.health === undefined ? 50 : 200,
    staleTime: 30_000,
  })
  return {
    ...found,
    isFiltered: Object.keys(filter).length > 0,
    /** Undefined while it loads. */
    total: found.data?.pages[0]?.total,
  }
}
