import { Paper, Stack, Text } from '@mantine/core'
import { useTokenLookup, type TokenOwner } from '../../api/token-lookup.ts'
import { TextLink } from '../../components/links.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { columnsWith, hiddenAtFirst } from './columns.tsx'
import { UserGroupsTable } from './search-results.tsx'

// The owner of a token has no health.
const ownerColumns = columnsWith({
  hidden: new Set([...hiddenAtFirst, 'last_seen']),
  viewers: undefined,
})

/** Shows the owner of a token that was pasted into the search. */
export function FoundByToken({ text }: { readonly text: string }) {
  const { data, error, problem, refetch } = useTokenLookup(text)
  if (error !== null)
    return <ErrorState error={error} title="The token cannot be looked up" onRetry={() => void refetch()} />
  return (
    <Paper withBorder p="md" role="status">
      {problem !== undefined ? (
        <EmptyState title="No user group is looked up yet">{problem}</EmptyState>
      ) : data === undefined ? (
        <LoadingState lines={2} label="Looking up the token" />
      ) : (
        <Owner owner={data} />
      )}
    </Paper>
  )
}

function Owner({ owner }: { readonly owner: TokenOwner }) {
  const { user_group: userGroup, api_token: apiToken } = owner
  if (userGroup !== undefined)
    return (
      <Stack gap="xs">
        <TokenState owner={owner} />
        <UserGroupsTable userGroups={[userGroup]} columns={ownerColumns} />
      </Stack>
    )
  return apiToken === undefined ? (
    <EmptyState title="No user group here has this token">
      It may belong to another workspace or to a deleted user group.
    </EmptyState>
  ) : (
    <EmptyState
      title={`This is the API token ${apiToken.name}, not a user group token`}
      action={<TextLink to="/api-tokens">Show the API tokens</TextLink>}
    />
  )
}

function TokenState({ owner: { works, valid_until: validUntil } }: { readonly owner: TokenOwner }) {
  return (
    <Text size="sm">
      {typeof validUntil !== 'string' ? (
        'This is its current token. '
      ) : (
        <>
          This token was replaced, and {works ? 'works until ' : 'stopped '}
          <Time value={validUntil} />.{' '}
        </>
      )}
      <TextLink to="/leaked-token" size="sm">
        Is it leaked?
      </TextLink>
    </Text>
  )
}
