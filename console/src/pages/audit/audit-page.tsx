import { Paper } from '@mantine/core'
import { ActionButton } from '../../components/action-button.tsx'
import { IconRefresh } from '../../components/icons.tsx'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Query } from '../../api/request.ts'
import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'
import { ExportMenu } from '../../components/export-menu.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { useTimeRange } from '../../components/time-range.ts'
import { EventsTable } from './events-table.tsx'
import { readAuditSearch, type AuditEvent, type AuditSearch } from './search.ts'
import { SearchForm } from './search-form.tsx'

export function AuditPage() {
  // Without the job of any page.
  const search = readAuditSearch(useSearch({ from: '/audit' }))
  const navigate = useNavigate()
  const query = useQueryOf(search)
  const found = useEvents(query)
  const isFiltered = Object.keys(search).length > 0
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What was changed, when, and by whom: the newest first."
        actions={
          <>
            <ExportMenu
              note={isFiltered ? 'Events that match' : 'All events'}
              path="/audit-events/export"
              query={query}
              name="audit-events"
            />
            <ActionButton
              variant="default"
              leftSection={<IconRefresh size={16} aria-hidden />}
              pending={found.isRefetching}
              onClick={() => void found.refetch()}
            >
              Look again
            </ActionButton>
          </>
        }
      />
      <SearchForm
        key={JSON.stringify(search)}
        search={search}
        onSearch={(next) => void navigate({ to: '/audit', search: next })}
      />
      <Events found={found} isFiltered={isFiltered} grouped={search.request_id === undefined} />
    </>
  )
}

function useQueryOf({ within, from, to, ...search }: AuditSearch): Query {
  return { ...search, ...useTimeRange({ within, from, to }) }
}

function useEvents(query: Query) {
  return usePages<Wire['AuditEventListResponse'], AuditEvent>({
    queryKey: ['audit-events', query],
    path: '/audit-events',
    query,
    rowsOf: ({ audit_events }) => audit_events,
    pageRows: 50,
    // An import may have many events, which are one row.
    pageSize: 200,
    refetchOnMount: 'always',
  })
}

interface Props {
  readonly found: ReturnType<typeof useEvents>
  readonly isFiltered: boolean
  readonly grouped: boolean
}

function Events({ found, isFiltered, grouped }: Props) {
  const { rows, error, isPending, isError, isSearching, hasNextPage } = found
  if (isError && rows.length === 0) {
    return (
      <ErrorState error={error} title="The audit log cannot be shown" onRetry={() => void found.refetch()} />
    )
  }
  return (
    <Paper withBorder p="md">
      {isPending && <LoadingState lines={10} label="Loading the audit log" />}
      {rows.length > 0 && <EventsTable events={rows} grouped={grouped} onEnd={found.onEnd} />}
      {!isPending && rows.length === 0 && !isSearching && !hasNextPage && (
        <EmptyState title={isFiltered ? 'No event matches' : 'Nothing was changed yet'}>
          {isFiltered ? 'Check the filters. An operator may have removed old events.' : undefined}
        </EmptyState>
      )}
      {isError && (
        <ErrorState
          error={error}
          title="The search did not get to the end"
          onRetry={() => void found.fetchNextPage()}
        />
      )}
      <PagesFooter found={found} noun="event" />
    </Paper>
  )
}
