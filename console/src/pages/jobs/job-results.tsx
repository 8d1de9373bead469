import { Text } from '@mantine/core'
import type { Job, JobResult } from '../../api/jobs.ts'
import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'
import { CustomerText } from '../../components/customer-text.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'

export type Outcome = JobResult['outcome']

export const outcomeLabels: Readonly<Record<Outcome, string>> = {
  failed: 'Failed',
  done: 'Done',
  unchanged: 'No change needed',
}

const columns = columnsOf<JobResult>((column) => [
  column.accessor('provided_id', {
    header: 'User group',
    cell: ({ row: { original } }) => <UserGroup result={original} />,
  }),
  column.accessor('outcome', {
    header: 'Outcome',
    cell: ({ getValue }) => (
      <Text span inherit {...(getValue() === 'failed' && { c: 'var(--console-bad)', fw: 600 })}>
        {outcomeLabels[getValue()]}
      </Text>
    ),
  }),
  column.accessor('error', { header: 'Reason', cell: ({ getValue }) => getValue()?.message }),
])

function UserGroup({ result: { team_id, provided_id } }: { readonly result: JobResult }) {
  if (provided_id === null) return `Team id ${team_id}`
  return (
    <TextLink to="/user-groups/$teamId" params={{ teamId: String(team_id) }} size="sm">
      <CustomerText>{provided_id}</CustomerText>
    </TextLink>
  )
}

interface Props {
  readonly job: Job
  /** Default: all. */
  readonly outcome?: Outcome | undefined
  /** True if the window does not scroll the list. */
  readonly isShort?: boolean
}

/** The results of a job by user group. */
export function JobResults({ job, outcome, isShort = false }: Props) {
  const found = usePages<Wire['JobResultListResponse'], JobResult>({
    // Loaded again as the job proceeds.
    queryKey: ['jobs', job.id, 'results', outcome, outcome === 'failed' ? job.failed : job.processed],
    path: `/jobs/${job.id}/results`,
    query: { outcome },
    rowsOf: ({ results }) => results,
    pageRows: 50,
  })
  const { rows, error, isPending, isError, hasNextPage, refetch } = found
  if (isPending) return <LoadingState lines={4} label="Loading the results" />
  if (isError && rows.length === 0)
    return <ErrorState error={error} title="The results cannot be listed" onRetry={() => void refetch()} />
  if (rows.length === 0) return <EmptyState title="No results yet" />
  return (
    <>
      <DataTable
        label="Results"
        columns={columns}
        rows={rows}
        rowId={({ number }) => String(number)}
        onEnd={isShort ? undefined : found.onEnd}
        {...(hasNextPage && { total: -1 })}
      />
      {isShort ? (
        hasNextPage && (
          <Text size="sm" c="dimmed" pt="xs">
            The first {rows.length}.
          </Text>
        )
      ) : (
        <PagesFooter found={found} noun="result" />
      )}
    </>
  )
}
