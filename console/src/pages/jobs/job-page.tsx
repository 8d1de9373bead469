import { SegmentedControl, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { jobQuery, type Job } from '../../api/jobs.ts'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { LoadingState, NotShownState } from '../../components/states.tsx'
import { JobProgress } from './job-progress.tsx'
import { JobResults, outcomeLabels, type Outcome } from './job-results.tsx'
import { titleOf } from './job-texts.ts'

export function JobPage() {
  const { jobId } = useParams({ from: '/jobs/$jobId' })
  const { data: job, error, refetch } = useQuery(jobQuery(Number(jobId)))
  return (
    <>
      <PageHeader
        title={job === undefined ? `Job ${jobId}` : titleOf(job)}
        description={
          <>
            <TextLink to="/jobs" size="sm">
              All jobs
            </TextLink>
            {job !== undefined && (
              <>
                {' · '}
                <TextLink to="/audit" search={{ request_id: job.request_id }} size="sm">
                  Its changes in the audit log
                </TextLink>
              </>
            )}
          </>
        }
      />
      {job !== undefined ? (
        <JobDetails job={job} />
      ) : error === null ? (
        <LoadingState label="Loading the job" />
      ) : (
        <NotShownState error={error} name="job" onRetry={() => void refetch()}>
          Jobs are kept for 30 days.
        </NotShownState>
      )}
    </>
  )
}

function JobDetails({ job }: { readonly job: Job }) {
  const [outcome, setOutcome] = useState<Outcome>()
  return (
    <Stack gap="md">
      <Section title="Progress">
        <JobProgress job={job} />
      </Section>
      <Section
        title="Results"
        actions={
          <SegmentedControl
            aria-label="Outcome"
            size="xs"
            data={[
              { value: '', label: 'All' },
              ...Object.entries(outcomeLabels).map(([value, label]) => ({ value, label })),
            ]}
            value={outcome ?? ''}
            onChange={(value) => setOutcome(value === '' ? undefined : (value as Outcome))}
          />
        }
      >
        <JobResults job={job} outcome={outcome} />
      </Section>
    </Stack>
  )
}
