import { usePages } from '../../api/use-pages.ts'
import type { ListedUserGroup, Wire } from '../../api/wire.ts'
import { queriesOf, type UserGroupSearch } from './search.ts'

/** Loads the user groups that match the search. */
export function useSearch(search: UserGroupSearch) {
  const { text } = search
  const queries = queriesOf(search)
  const found = usePages<Wire['UserGroupListResponse'], ListedUserGroup>({
    queryKey: ['user-groups', 'search', queries],
    path: '/user-groups',
    queries,
    // The first query has found those whose id matches.
    rowsOf: ({ user_groups }, stage) =>
      stage === 0 || text === undefined
        ? user_groups
        : user_groups.filter(({ provided_id }) => !provided_id.startsWith(text)),
    pageRows: 50,
    // The service examines each user group for its health.
    pageSize: search.health === undefined ? 50 : 200,
    staleTime: 30_000,
  })
  return { ...found, isFiltered: queries.some((query) => Object.keys(query).length > 0) }
}
