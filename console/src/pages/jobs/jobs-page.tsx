import { Paper } from '@mantine/core'
import type { Job } from '../../api/jobs.ts'
import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'
import { Author } from '../../components/author.tsx'
import { numberText } from '../../components/counts.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { stateTexts, titleOf } from './job-texts.ts'

const columns = columnsOf<Job>((column) => [
  column.accessor('id', {
    header: 'Job',
    cell: ({ row: { original } }) => (
      <TextLink to="/jobs/$jobId" params={{ jobId: String(original.id) }} size="sm" fw={600}>
        {titleOf(original)}
      </TextLink>
    ),
  }),
  column.accessor('state', { header: 'State', cell: ({ getValue }) => stateTexts[getValue()] }),
  column.accessor('done', { header: 'Done', cell: ({ getValue }) => numberText(getValue()) }),
  column.accessor('failed', { header: 'Failed', cell: ({ getValue }) => numberText(getValue()) }),
  column.accessor('author', { header: 'By', cell: ({ getValue }) => <Author value={getValue()} /> }),
  column.accessor('created_at', {
    header: 'Started',
    cell: ({ getValue }) => <Time value={getValue()} as="age" />,
  }),
])

export function JobsPage() {
  const found = usePages<Wire['JobListResponse'], Job>({
    queryKey: ['jobs', 'list'],
    path: '/jobs',
    rowsOf: ({ jobs }) => jobs,
    pageRows: 50,
    refetchOnMount: 'always',
  })
  const { rows, error, isPending, isError, refetch } = found
  return (
    <>
      <PageHeader
        title="Jobs"
        description="Changes of many user groups that the service makes in the background: the newest first, for 30 days."
      />
      <Paper withBorder p="md">
        {isPending && <LoadingState label="Loading the jobs" />}
        {isError && rows.length === 0 && (
          <ErrorState error={error} title="The jobs cannot be listed" onRetry={() => void refetch()} />
        )}
        {rows.length > 0 && (
          <DataTable
            label="Jobs"
            columns={columns}
            rows={rows}
            rowId={({ id }) => String(id)}
            onEnd={found.onEnd}
          />
        )}
        {!isPending && !isError && rows.length === 0 && (
          <EmptyState title="There were no jobs in the last 30 days">
            Select user groups in their list to change many at once.
          </EmptyState>
        )}
        <PagesFooter found={found} noun="job" />
      </Paper>
    </>
  )
}
