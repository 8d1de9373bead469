import { Button, Paper } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { IconPlus } from '../../components/icons.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { useSession } from '../../session/store.ts'
import { CreateDialog } from './endpoint-dialogs.tsx'
import { EndpointsTable } from './endpoints-table.tsx'
import { endpointsQuery } from './webhook-endpoint.ts'

export function WebhooksPage() {
  const { workspace, api_environment_tag: environment } = useSession()
  const [isCreating, setIsCreating] = useState(false)
  return (
    <>
      <PageHeader
        title="Webhooks"
        description={`Endpoints that receive the events of the workspace ${workspace.name} and the environment ${environment}.`}
        actions={
          <Allowed to="createWebhookEndpoint">
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
              Create an endpoint
            </Button>
          </Allowed>
        }
      />
      <Endpoints />
      {isCreating && <CreateDialog onClose={() => setIsCreating(false)} />}
    </>
  )
}

function Endpoints() {
  const { data, error, isPending, isError, refetch } = useQuery(endpointsQuery)
  if (isError)
    return (
      <ErrorState
        error={error}
        title="The webhook endpoints cannot be listed"
        onRetry={() => void refetch()}
      />
    )
  return (
    <Paper withBorder p="md">
      {isPending && <LoadingState lines={5} label="Loading the webhook endpoints" />}
      {data?.length === 0 && (
        <EmptyState title="There is no webhook endpoint">
          Create one to send events to a URL of your backend.
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && <EndpointsTable endpoints={data} />}
    </Paper>
  )
}
