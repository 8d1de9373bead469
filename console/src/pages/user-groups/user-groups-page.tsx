import { Button, Menu } from '@mantine/core'
import { IconDownload, IconPlus, IconTrash } from '../../components/icons.tsx'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { adminPath } from '../../api/request.ts'
import { ButtonLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { SearchForm } from './search-form.tsx'
import { SearchResults } from './search-results.tsx'
import { FoundByToken } from './token-owner.tsx'
import type { UserGroupSearch } from './search.ts'

const route = getRouteApi('/user-groups')

export function UserGroupsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const router = useRouter()
  const [token, setToken] = useState<string>()
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
            <ButtonLink to="/user-groups/new" leftSection={<IconPlus size={16} aria-hidden />}>
              Create
            </ButtonLink>
            <ButtonLink
              to="/user-groups/deleted"
              variant="default"
              leftSection={<IconTrash size={16} aria-hidden />}
            >
              Deleted
            </ButtonLink>
            <ExportMenu />
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

const formats = [
  { format: 'csv', label: 'CSV, for a spreadsheet' },
  { format: 'ndjson', label: 'NDJSON, a line for each' },
]

function ExportMenu() {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All user groups, without tokens</Menu.Label>
        {formats.map(({ format, label }) => (
          <Menu.Item
            key={format}
            component="a"
            href={adminPath('/user-groups/export', { format })}
            download={`user-groups.${format}`}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
