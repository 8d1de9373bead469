import { Text } from '@mantine/core'
import type { UserGroup, Wire } from '../../api/wire.ts'
import { CustomerText } from '../../components/customer-text.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { UserGroupState } from '../../components/user-group-state.tsx'
import { useSession } from '../../session/store.ts'
import { ApiTokenStateBadge, Scopes } from '../api-tokens/api-tokens-table.tsx'
import { Facts } from './facts.tsx'

export function UserGroupOwner({ userGroup }: { readonly userGroup: UserGroup }) {
  const { team_id, name, provided_id, token_issued_at } = userGroup
  return (
    <Facts
      facts={[
        [
          'User group',
          <TextLink
            key="name"
            to="/user-groups/$teamId"
            params={{ teamId: String(team_id) }}
            fw={600}
            size="sm"
          >
            <CustomerText>{name}</CustomerText>
          </TextLink>,
        ],
        [
          'Id',
          <Text key="id" span size="sm" ff="monospace">
            <CustomerText>{provided_id}</CustomerText>
          </Text>,
        ],
        ['State', <UserGroupState key="state" userGroup={userGroup} />],
        ['Current token', <TokenAge key="token" issuedAt={token_issued_at} />],
      ]}
    />
  )
}

function TokenAge({ issuedAt }: { readonly issuedAt: string }) {
  return (
    <Text span size="sm">
      issued <Time value={issuedAt} as="age" />
    </Text>
  )
}

export function ApiTokenOwner({ apiToken }: { readonly apiToken: Wire['ApiToken'] }) {
  const { api_token: own } = useSession()
  return (
    <Facts
      facts={[
        [
          'Name',
          <Text key="name" span size="sm" fw={600}>
            {apiToken.name}
            {apiToken.id === own?.id && ' (you are signed in with it)'}
          </Text>,
        ],
        [
          'Id',
          <Text key="id" span size="sm">
            {apiToken.id}
          </Text>,
        ],
        ['Scopes', <Scopes key="scopes" scopes={apiToken.scopes} />],
        ['State', <ApiTokenStateBadge key="state" apiToken={apiToken} />],
        [
          'Created',
          <Text key="created" span size="sm">
            <Time value={apiToken.created_at} as="age" />
          </Text>,
        ],
      ]}
    />
  )
}
