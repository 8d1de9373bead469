import { usePages } from '../../api/use-pages.ts'
import type { ListedUserGroup, Wire } from '../../api/wire.ts'
import { queryOf, type UserGroupSearch } from './search.ts'

/** Loads the user groups that match the search. */
export function useSearch(search: UserGroupSearch) {
  const query = queryOf(search)
  const found = usePages<Wire['UserGroupListResponse'], ListedUserGroup>({
    queryKey: ['user-groups', 'search', query],
    path: '/user-groups',
    query,
    rowsOf: ({ user_groups }) => user_groups,
    pageRows: 50,
    // The service examines each user group for its health.
    pageSize: search.health === undefined ? 50 : 200,
    staleTime: 30_000,
  })
  return { ...found, isFiltered: Object.keys(query).length > 0 }
}
