import { usePages } from '../../api/use-pages.ts'
import type { UserGroup, Wire } from '../../api/wire.ts'
import { complete, type UserGroupSearch } from './search.ts'

/** Loads the user groups that match the search. */
export function useSearch(search: UserGroupSearch) {
  const completed = complete(search)
  const found = usePages<Wire['UserGroupListResponse'], UserGroup>({
    queryKey: ['user-groups', 'search', completed],
    path: '/user-groups',
    query: { ...completed },
    rowsOf: ({ user_groups }) => user_groups,
    rowsAtOnce: 50,
    staleTime: 30_000,
  })
  return { ...found, isFiltered: Object.keys(completed).length > 0 }
}
