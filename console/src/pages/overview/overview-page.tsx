import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { PageHeader } from '../../components/page-header.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { useSession } from '../../session/store.ts'
import { Attention } from './attention.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LastChanges } from './last-changes.tsx'
import { overviewQuery } from './queries.ts'
import { Seen } from './seen.tsx'

/** The start page: numbers of the environment, or the first steps if it is empty. */
export function OverviewPage() {
  const { workspace, api_environment_tag: environment } = useSession()
  const { data, error, refetch, isFetching } = useQuery(overviewQuery)
  const isEmpty = data?.user_groups.count === 0
  return (
    <>
      <PageHeader title="Overview" description={`${environment} of the workspace ${workspace.name}`} />
      {data === undefined ? (
        error === null ? (
          <LoadingState lines={9} label="Loading the overview" />
        ) : (
          <ErrorState error={error} title="The overview cannot be shown" onRetry={() => void refetch()} />
        )
      ) : (
        <Stack gap="md">
          {isEmpty ? (
            <FirstSteps isChecking={isFetching} onCheck={() => void refetch()} />
          ) : (
            <>
              <Seen all={data.user_groups} />
              <Attention overview={data} />
            </>
          )}
          <LastChanges events={data.last_changes} />
        </Stack>
      )}
    </>
  )
}
