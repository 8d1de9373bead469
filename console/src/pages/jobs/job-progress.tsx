import { Group, Progress, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { cancelJob, isOver, jobQuery, type Job } from '../../api/jobs.ts'
import { Author } from '../../components/author.tsx'
import { Counts, numberText } from '../../components/counts.tsx'
import { visibleText } from '../../components/customer-text.tsx'
import { ErrorAlert } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { filterText, stateTexts } from './job-texts.ts'

/** Progress of a job, with a button that cancels it. */
export function JobProgress({ job }: { readonly job: Job }) {
  const { processed, total, done, unchanged, failed } = job
  useReloadWhenOver(job)
  const percent = isOver(job) ? 100 : Math.min(99, (100 * processed) / Math.max(1, total.count))
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {visibleText(filterText(job.filter))} Started by <Author value={job.author} />,{' '}
        <Time value={job.created_at} />.
      </Text>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} role="status">
          {stateTexts[job.state]}
        </Text>
        <Text size="sm" c="dimmed">
          {numberText(processed)} of {numberText(total.count)}
          {!total.is_exact && '+'}
        </Text>
      </Group>
      <Progress value={percent} aria-label="Progress" color={job.state === 'canceled' ? 'gray' : 'teal'} />
      <Counts
        counts={[
          { label: 'Done', count: done },
          { label: 'No change needed', count: unchanged },
          { label: 'Failed', count: failed, isBad: true },
        ]}
      />
      <Allowed to="cancelJob">{!isOver(job) && <CancelButton job={job} />}</Allowed>
    </Stack>
  )
}

function CancelButton({ job: { id, state } }: { readonly job: Job }) {
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => cancelJob(id),
    onSuccess: (job) => queryClient.setQueryData(jobQuery(id).queryKey, job),
  })
  return (
    <>
      {error !== null && <ErrorAlert error={error} title="The job was not canceled" />}
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed" flex={1}>
          It continues if you leave this page. Canceling keeps the changes so far.
        </Text>
        <ActionButton
          size="xs"
          variant="default"
          pending={isPending}
          disabled={state === 'canceling'}
          onClick={() => mutate()}
        >
          Cancel the job
        </ActionButton>
      </Group>
    </>
  )
}

/** Loads again what a job has changed. */
function useReloadWhenOver(job: Job): void {
  const queryClient = useQueryClient()
  const over = isOver(job)
  useEffect(() => {
    if (!over) return
    for (const queryKey of [['user-groups'], ['user-group'], ['jobs', 'list']])
      void queryClient.invalidateQueries({ queryKey })
  }, [over, queryClient])
}
