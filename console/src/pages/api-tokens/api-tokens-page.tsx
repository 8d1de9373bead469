import { Button, Paper, SegmentedControl } from '@mantine/core'
import { IconPlus } from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiTokensQuery } from '../../api/queries.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { useSession } from '../../session/store.ts'
import { ApiTokensTable, type ApiTokenChanges } from './api-tokens-table.tsx'
import { stateOf, type ApiToken } from './api-token.ts'
import { CreateDialog } from './create-dialog.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { RotateDialog } from './rotate-dialog.tsx'

export function ApiTokensPage() {
  const { workspace, api_environment_tag: environment } = useSession()
  const [isCreating, setIsCreating] = useState(false)
  const [rotated, setRotated] = useState<ApiToken>()
  const [revoked, setRevoked] = useState<ApiToken>()
  return (
    <>
      <PageHeader
        title="API tokens"
        description={`Credentials of programs and people, in the workspace ${workspace.name} and the environment ${environment}. Each is shown only once, when it is created.`}
        actions={
          <Allowed to="createApiToken">
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
              Create an API token
            </Button>
          </Allowed>
        }
      />
      <ApiTokensList onRotate={setRotated} onRevoke={setRevoked} />
      {isCreating && <CreateDialog onClose={() => setIsCreating(false)} />}
      {rotated !== undefined && <RotateDialog apiToken={rotated} onClose={() => setRotated(undefined)} />}
      {revoked !== undefined && <RevokeDialog apiToken={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  )
}

function ApiTokensList(changes: ApiTokenChanges) {
  const { data, error, isPending, isError, refetch } = useQuery(apiTokensQuery)
  const [shown, setShown] = useState<'valid' | 'all'>('valid')
  if (isError)
    return <ErrorState error={error} title="The API tokens cannot be listed" onRetry={() => void refetch()} />
  const all = [...(data ?? [])].reverse()
  const valid = all.filter((apiToken) => stateOf(apiToken) === 'valid')
  const rows = shown === 'valid' ? valid : all
  return (
    <Paper withBorder p="md">
      <SegmentedControl
        aria-label="Which API tokens to list"
        size="xs"
        mb="sm"
        data={[
          { value: 'valid', label: data === undefined ? 'Valid' : `Valid (${valid.length})` },
          { value: 'all', label: data === undefined ? 'All' : `All (${all.length})` },
        ]}
        value={shown}
        onChange={setShown}
      />
      {isPending && <LoadingState lines={5} label="Loading API tokens" />}
      {data !== undefined && rows.length === 0 && <EmptyState title="No API token is valid" />}
      {rows.length > 0 && <ApiTokensTable apiTokens={rows} {...changes} />}
    </Paper>
  )
}
