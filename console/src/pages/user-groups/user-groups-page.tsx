import { IconPlus, IconTrash } from '../../components/icons.tsx'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { ExportMenu } from '../../components/export-menu.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { SearchForm } from './search-form.tsx'
import { SearchResults } from './search-results.tsx'
import { FoundByToken } from './token-owner.tsx'
import { filterOf, type UserGroupSearch } from './search.ts'

const route = getRouteApi('/user-groups')

export function UserGroupsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const router = useRouter()
  const [token, setToken] = useState<string>()
  const filter = filterOf(search)
  const isFiltered = Object.keys(filter).length > 0
  const follow = (typed: UserGroupSearch) => {
    // Do not navigate back if the user has followed a link meanwhile.
    if (router.latestLocation.pathname === '/user-groups') void navigate({ search: typed, replace: true })
  }
  return (
    <>
      <PageHeader
        title="User groups"
        description="The customers of your product: each has a token, and a mapping that says where its data is."
        actions={
          <>
            <Allowed to="createUserGroup">
              <ButtonLink to="/user-groups/new" leftSection={<IconPlus size={16} aria-hidden />}>
                Create
              </ButtonLink>
            </Allowed>
            <ButtonLink
              to="/user-groups/deleted"
              variant="default"
              leftSection={<IconTrash size={16} aria-hidden />}
            >
              Deleted
            </ButtonLink>
            <ExportMenu
              note={isFiltered ? 'Those that match, without tokens' : 'All user groups, without tokens'}
              path="/user-groups/export"
              query={filter}
              name="user-groups"
            />
          </>
        }
      />
      <SearchForm search={search} onSearch={follow} token={token} onToken={setToken} />
      {token === undefined ? (
        <SearchResults search={search} onSearch={(next) => void navigate({ search: next })} />
      ) : (
        <FoundByToken text={token} />
      )}
    </>
  )
}
