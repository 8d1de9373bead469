import { Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { jobQuery } from '../../api/jobs.ts'
import { Dialog } from '../../components/dialog.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { Place } from '../../components/place.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { JobProgress } from './job-progress.tsx'
import { JobResults } from './job-results.tsx'
import { titleOf } from './job-texts.ts'

/** Shows the job in the address of any page, so that a reload shows it again. */
export function JobOfAddress() {
  const { job } = useSearch({ from: '__root__' })
  const navigate = useNavigate()
  if (job === undefined) return null
  return (
    <JobDialog
      id={Number(job)}
      onClose={() => void navigate({ to: '.', search: withoutJob, replace: true })}
    />
  )
}

/** Returns the search parameters of a page, without the job. */
function withoutJob<Search extends { readonly job?: string }>(search: Search): Omit<Search, 'job'> {
  const others = { ...search }
  delete (others as { job?: string }).job
  return others
}

function JobDialog({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const { data: job, error, isPending, refetch } = useQuery(jobQuery(id))
  return (
    <Dialog onClose={onClose} size="lg" title={job === undefined ? `Job ${id}` : titleOf(job)}>
      <Stack gap="md">
        <Place />
        {isPending && <LoadingState lines={4} label="Loading the job" />}
        {error !== null && job === undefined && (
          <ErrorState error={error} title="The job cannot be shown" onRetry={() => void refetch()} />
        )}
        {job !== undefined && (
          <>
            <JobProgress job={job} />
            {job.failed > 0 && <JobResults job={job} outcome="failed" isShort />}
          </>
        )}
        <Group justify="flex-end" gap="xs">
          <ButtonLink to="/jobs/$jobId" params={{ jobId: String(id) }} variant="default">
            All results
          </ButtonLink>
        </Group>
      </Stack>
    </Dialog>
  )
}
