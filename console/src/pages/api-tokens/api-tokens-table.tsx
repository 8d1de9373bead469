import { Badge, Button, Group, Text } from '@mantine/core'
import { IconBan, IconCheck, IconClockOff } from '../../components/icons.tsx'
import { useMemo } from 'react'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { Time } from '../../components/time.tsx'
import { useMay } from '../../session/permissions.tsx'
import { useSession } from '../../session/store.ts'
import { stateOf, type ApiToken } from './api-token.ts'

export interface ApiTokenChanges {
  readonly onRotate: (apiToken: ApiToken) => void
  readonly onRevoke: (apiToken: ApiToken) => void
}

const columnsWith = (ownId: number | undefined, changes: ApiTokenChanges) =>
  columnsOf<ApiToken>((column) => [
    column.accessor('name', {
      header: 'Name',
      cell: ({ row: { original } }) => <Name apiToken={original} isOwn={original.id === ownId} />,
    }),
    column.accessor('id', { header: 'Id' }),
    column.accessor('scopes', {
      header: 'Scopes',
      enableSorting: false,
      cell: ({ getValue }) => <Scopes scopes={getValue()} />,
    }),
    column.accessor((apiToken) => stateOf(apiToken), {
      id: 'state',
      header: 'State',
      cell: ({ row: { original } }) => <ApiTokenStateBadge apiToken={original} />,
    }),
    column.accessor('created_at', {
      header: 'Created',
      cell: ({ getValue }) => <Time value={getValue()} as="age" />,
    }),
    column.accessor((apiToken) => apiToken.last_used_at ?? '', {
      id: 'last_used_at',
      header: 'Last used',
      cell: ({ row: { original } }) =>
        original.last_used_at === null ? 'never' : <Time value={original.last_used_at} as="age" />,
    }),
    column.accessor((apiToken) => apiToken.expires_at ?? '9999', {
      id: 'expires_at',
      header: 'Expires',
      cell: ({ row: { original } }) => <Ending apiToken={original} />,
    }),
    column.display({
      id: 'changes',
      header: '',
      cell: ({ row: { original } }) =>
        stateOf(original) === 'valid' && <ChangeButtons apiToken={original} {...changes} />,
    }),
  ])

interface Props extends ApiTokenChanges {
  readonly apiTokens: readonly ApiToken[]
}

export function ApiTokensTable({ apiTokens, onRotate, onRevoke }: Props) {
  const { api_token: own } = useSession()
  const columns = useMemo(() => columnsWith(own?.id, { onRotate, onRevoke }), [own?.id, onRotate, onRevoke])
  return (
    <DataTable
      label="API tokens"
      columns={columns}
      rows={apiTokens}
      rowId={({ id }) => String(id)}
      sortable
    />
  )
}

interface NameProps {
  readonly apiToken: ApiToken
  readonly isOwn: boolean
}

function Name({ apiToken: { name, replaced_by }, isOwn }: NameProps) {
  return (
    <Text span size="sm" fw={600}>
      {name}
      {isOwn && (
        <Text span size="xs" fw={400} c="dimmed">
          {' '}
          (you are signed in with it)
        </Text>
      )}
      {replaced_by !== null && (
        <Text span size="xs" fw={400} c="dimmed">
          {' '}
          (replaced by {replaced_by})
        </Text>
      )}
    </Text>
  )
}

interface ChangeButtonsProps extends ApiTokenChanges {
  readonly apiToken: ApiToken
}

function ChangeButtons({ apiToken, onRotate, onRevoke }: ChangeButtonsProps) {
  const { name, id, replaced_by } = apiToken
  const may = useMay()
  return (
    <Group justify="flex-end" gap={4} wrap="nowrap">
      {replaced_by === null && may('rotateApiToken') && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onRotate(apiToken)}
          aria-label={`Rotate ${name} (${id})`}
        >
          Rotate
        </Button>
      )}
      {may('revokeApiToken') && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onRevoke(apiToken)}
          aria-label={`Revoke ${name} (${id})`}
        >
          Revoke
        </Button>
      )}
    </Group>
  )
}

export function Scopes({ scopes }: Pick<ApiToken, 'scopes'>) {
  return (
    <Group gap={4}>
      {scopes.map((scope) => (
        <Badge key={scope} variant="default" tt="none" fw={500}>
          {scope}
        </Badge>
      ))}
    </Group>
  )
}

export function ApiTokenStateBadge({ apiToken }: { readonly apiToken: ApiToken }) {
  switch (stateOf(apiToken)) {
    case 'valid':
      return (
        <Badge variant="light" color="teal" leftSection={<IconCheck size={12} aria-hidden />}>
          Valid
        </Badge>
      )
    case 'expired':
      return (
        <Badge variant="light" color="gray" leftSection={<IconClockOff size={12} aria-hidden />}>
          Expired
        </Badge>
      )
    case 'revoked':
      return (
        <Badge variant="light" color="gray" leftSection={<IconBan size={12} aria-hidden />}>
          Revoked
        </Badge>
      )
  }
}

function Ending({ apiToken: { expires_at, revoked_at } }: { readonly apiToken: ApiToken }) {
  if (revoked_at !== null) {
    return (
      <>
        revoked <Time value={revoked_at} as="age" />
      </>
    )
  }
  return expires_at === null ? 'never' : <Time value={expires_at} />
}
