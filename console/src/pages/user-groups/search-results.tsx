import { Button, Paper, Text } from '@mantine/core'
import { columnsOf, DataTable, type Selection } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { HealthCounts, healthRank, HealthSummary } from './health.tsx'
import { UserGroupState } from '../../components/user-group-state.tsx'
import type { ListedUserGroup, Mapping } from '../../api/wire.ts'
import type { UserGroupSearch } from './search.ts'
import { useSearch } from './use-search.ts'
import classes from './search-results.module.css'

const healthColumn = 'health'

const columns = columnsOf<ListedUserGroup>((column) => [
  column.accessor('name', {
    header: 'Name',
    cell: ({ row: { original } }) => (
      <TextLink to="/user-groups/$teamId" params={{ teamId: String(original.team_id) }} size="sm" fw={600}>
        {original.name}
      </TextLink>
    ),
  }),
  column.accessor('provided_id', {
    header: 'Id',
    cell: ({ getValue }) => (
      <Text span size="xs" ff="monospace">
        {getValue()}
      </Text>
    ),
  }),
  column.accessor(({ mapping }) => summaryOf(mapping), {
    id: 'mapping',
    header: 'Mapping',
    cell: ({ getValue }) => (
      <Text span size="xs" {...(getValue() === '' && { c: 'dimmed' })}>
        {getValue() || 'None'}
      </Text>
    ),
  }),
  column.accessor(healthRank, {
    id: healthColumn,
    header: 'Health',
    cell: ({ row: { original } }) => original.health && <HealthSummary health={original.health} />,
  }),
  column.accessor(({ suspended_at }) => (suspended_at === null ? 'Active' : 'Suspended'), {
    id: 'state',
    header: 'State',
    cell: ({ row: { original } }) => <UserGroupState userGroup={original} />,
  }),
  column.accessor('updated_at', {
    header: 'Last change',
    cell: ({ getValue }) => <Time value={getValue()} as="age" className={classes.time ?? ''} />,
  }),
])

const shownEntries = 2

function summaryOf(mapping: Mapping): string {
  const entries = Object.entries(mapping ?? {}).map(([schema, dataSource]) => `${schema} → ${dataSource}`)
  const more = entries.length - shownEntries
  return `${entries.slice(0, shownEntries).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

interface TableProps {
  readonly userGroups: readonly ListedUserGroup[]
  readonly sortable?: boolean
  readonly selection?: Selection<ListedUserGroup>
}

export function UserGroupsTable({ userGroups, sortable = false, selection }: TableProps) {
  const hasHealth = userGroups.some(({ health }) => health !== undefined)
  return (
    <DataTable
      label="User groups"
      columns={hasHealth ? columns : columns.filter(({ id }) => id !== healthColumn)}
      rows={userGroups}
      rowId={({ team_id }) => String(team_id)}
      sortable={sortable}
      {...(selection && { selection })}
    />
  )
}

interface Props {
  readonly search: UserGroupSearch
  readonly onSearch: (search: UserGroupSearch) => void
}

export function SearchResults({ search, onSearch }: Props) {
  const found = useSearch(search)
  const { rows, error, isPending, isError, isPlaceholderData, isSearching, refetch, fetchNextPage } = found
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
  return (
    <Paper
      withBorder
      p="md"
      data-stale={isPlaceholderData}
      aria-busy={isPlaceholderData}
      className={classes.results}
    >
      {rows.length > 0 && <HealthCounts userGroups={rows} />}
      {/* Without rows too, because its dialog may be open. */}
      <BulkActions userGroups={rows}>
        {(selection) => <UserGroupsTable userGroups={rows} sortable selection={selection} />}
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
      {found.hasNextPage && !isSearching && rows.length > 0 && (
        <Text size="xs" c="dimmed">
          Columns sort the user groups shown. Load more to include others.
        </Text>
      )}
    </Paper>
  )
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
          <TextLink to="/import" size="sm">
            Import user groups
          </TextLink>
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
      Check the spelling and the filters: names may be searched by any part, ids only from their start, and
      ids are case-sensitive. It may also be deleted.
    </EmptyState>
  )
}
