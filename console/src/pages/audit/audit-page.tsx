import { Button, Paper } from '@mantine/core'
import { IconRefresh } from '../../components/icons.tsx'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { EventsTable } from './events-table.tsx'
import { periods, type AuditEvent, type AuditSearch } from './search.ts'
import { SearchForm } from './search-form.tsx'

export function AuditPage() {
  const search = useSearch({ from: '/audit' })
  const navigate = useNavigate()
  const found = useEvents(search)
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What was changed, when, and by whom: the newest first."
        actions={
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            loading={found.isRefetching}
            onClick={() => void found.refetch()}
          >
            Look again
          </Button>
        }
      />
      <SearchForm
        key={JSON.stringify(search)}
        search={search}
        onSearch={(next) => void navigate({ to: '/audit', search: next })}
      />
      <Events
        found={found}
        isFiltered={Object.keys(search).length > 0}
        grouped={search.request_id === undefined}
      />
    </>
  )
}

function useEvents({ within, ...search }: AuditSearch) {
  // Computed when the range is chosen, so that all pages of a search have the same range.
  const since = useMemo(
    () => within && new Date(Date.now() - periods[within].hours * 3_600_000).toISOString(),
    [within],
  )
  return usePages<Wire['AuditEventListResponse'], AuditEvent>({
    queryKey: ['audit-events', search, within],
    path: '/audit-events',
    query: { ...search, since },
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
      {rows.length > 0 && <EventsTable events={rows} grouped={grouped} />}
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
