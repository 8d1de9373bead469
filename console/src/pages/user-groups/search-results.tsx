import { Button, Paper } from '@mantine/core'
import { useMemo } from 'react'
import { ColumnMenu, useHiddenColumns } from '../../components/column-menu.tsx'
import { DataTable, type Columns, type Selection } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import type { Order, Sorting } from '../../components/sorting.ts'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import type { ListedUserGroup } from '../../api/wire.ts'
import { Allowed } from '../../session/permissions.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { columnsWith, hiddenAtFirst, optionalColumns } from './columns.tsx'
import { jobFilterOf, type SortKey, type UserGroupSearch } from './search.ts'
import { useSearch } from './use-search.ts'
import { useViewers } from './use-viewers.ts'
import classes from './search-results.module.css'

interface TableProps {
  readonly userGroups: readonly ListedUserGroup[]
  readonly columns: Columns<ListedUserGroup>
  readonly sorting?: Sorting<ListedUserGroup>
  readonly selection?: Selection<ListedUserGroup>
  readonly total?: number
  readonly onEnd?: (() => void) | undefined
}

export function UserGroupsTable({ userGroups, ...props }: TableProps) {
  return (
    <DataTable label="User groups" rows={userGroups} rowId={({ team_id }) => String(team_id)} {...props} />
  )
}

interface Props {
  readonly search: UserGroupSearch
  readonly onSearch: (search: UserGroupSearch) => void
}

export function SearchResults({ search, onSearch }: Props) {
  const found = useSearch(search)
  const { rows, error, isPending, isError, isPlaceholderData, isSearching, refetch, fetchNextPage } = found
  const { columns, hidden, toggle } = useColumns(found)
  if (isPending) {
    return (
      <Paper withBorder p="md">
        <LoadingState lines={10} label="Loading user groups" />
      </Paper>
    )
  }
  if (isError && rows.length === 0) {
    return (
      <ErrorState error={error} title="The user groups cannot be listed" onRetry={() => void refetch()} />
    )
  }
  const total = found.hasNextPage && found.total?.is_exact !== true ? -1 : (found.total?.count ?? rows.length)
  return (
    <Paper
      withBorder
      p="md"
      data-stale={isPlaceholderData}
      aria-busy={isPlaceholderData}
      className={classes.results}
    >
      {/* Without rows too, because its dialog may be open. */}
      <BulkActions
        userGroups={rows}
        total={found.total}
        filter={jobFilterOf(search)}
        tools={<ColumnMenu columns={optionalColumns} hidden={hidden} onToggle={toggle} />}
      >
        {(selection) => (
          <UserGroupsTable
            userGroups={rows}
            columns={columns}
            sorting={sortingOf(search, onSearch)}
            selection={selection}
            total={total}
            onEnd={found.onEnd}
          />
        )}
      </BulkActions>
      {rows.length === 0 && !isSearching && !found.hasGivenUp && (
        <NothingFound isFiltered={found.isFiltered} onSearch={onSearch} />
      )}
      {isError && (
        <ErrorState
          error={error}
          title="The search did not get to the end"
          onRetry={() => void fetchNextPage()}
        />
      )}
      <PagesFooter found={found} noun="user group" />
    </Paper>
  )
}

function useColumns({ data }: ReturnType<typeof useSearch>) {
  const { hidden, toggle } = useHiddenColumns('user-groups', hiddenAtFirst)
  const pages = useMemo(
    () =>
      hidden.has('viewers')
        ? []
        : (data?.pages ?? []).map(({ user_groups }) => user_groups.map(({ team_id }) => team_id)),
    [data, hidden],
  )
  const viewers = useViewers(pages)
  const columns = useMemo(() => columnsWith({ hidden, viewers }), [hidden, viewers])
  return { columns, hidden, toggle }
}

function sortingOf(search: UserGroupSearch, onSearch: Props['onSearch']): Sorting<ListedUserGroup> {
  const { sort, order, ...filter } = search
  return {
    order: sort && { by: sort, descending: order === 'desc' },
    onSort: (next: Order | undefined) =>
      onSearch({
        ...filter,
        ...(next && { sort: next.by as SortKey, ...(next.descending && { order: 'desc' }) }),
      }),
    nameOf: (column) => column.sort,
  }
}

interface NothingProps extends Pick<Props, 'onSearch'> {
  readonly isFiltered: boolean
}

function NothingFound({ isFiltered, onSearch }: NothingProps) {
  if (!isFiltered) {
    return (
      <EmptyState
        title="There are no user groups yet"
        action={
          <Allowed to="importUserGroups">
            <TextLink to="/import" size="sm">
              Import user groups
            </TextLink>
          </Allowed>
        }
      >
        Your backend creates one with its first GET /api/user request for a customer.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="No user group matches"
      action={
        <Button variant="default" size="xs" onClick={() => onSearch({})}>
          Show all
        </Button>
      }
    >
      Check the spelling and the filters. Any part of a name or id is found, in any case. It may also be
      deleted.
    </EmptyState>
  )
}
