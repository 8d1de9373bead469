import { Button, Text } from '@mantine/core'
import type { UsageOf } from '../../api/usage.ts'
import { numberText } from '../../components/counts.tsx'
import { columnsOf } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { Allowed } from '../../session/permissions.tsx'

type Seen = UsageOf<'active_days' | 'last_seen_at'>

export type UserGroupUsage = Seen &
  UsageOf<'team_id' | 'provided_id' | 'name' | 'viewers' | 'viewer_days'> & { readonly truncated?: boolean }

export const userGroupColumns = columnsOf<UserGroupUsage>((column) => [
  column.accessor('name', {
    header: 'User group',
    cell: ({ row: { original } }) => <UserGroupName usage={original} />,
  }),
  column.accessor('viewers', {
    header: 'Viewers',
    cell: ({ row: { original } }) =>
      `${numberText(original.viewers)}${original.truncated === true ? '+' : ''}`,
  }),
  column.accessor('active_days', { header: 'Days' }),
  column.accessor('last_seen_at', {
    header: 'Last seen',
    cell: ({ getValue }) => <Time value={getValue()} />,
  }),
])

function UserGroupName({ usage: { team_id, name, provided_id } }: { readonly usage: UserGroupUsage }) {
  if (name === null) return <Text size="sm" c="dimmed">{`Deleted, team id ${team_id}`}</Text>
  return (
    <>
      <TextLink to="/user-groups/$teamId/usage" params={{ teamId: String(team_id) }} size="sm" fw={600}>
        {name}
      </TextLink>
      <Text size="xs" c="dimmed" ff="monospace" fw={400}>
        {provided_id}
      </Text>
    </>
  )
}

export type ViewerUsage = Seen & UsageOf<'viewer_id'>

export const viewerColumns = (onErase: (viewerId: string) => void) =>
  columnsOf<ViewerUsage>((column) => [
    column.accessor('viewer_id', { header: 'Viewer' }),
    column.accessor('active_days', { header: 'Days' }),
    column.accessor('last_seen_at', {
      header: 'Last seen',
      cell: ({ getValue }) => <Time value={getValue()} />,
    }),
    column.display({
      id: 'actions',
      header: '',
      cell: ({ row: { original } }) => (
        <Allowed to="eraseUsage">
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Erase ${original.viewer_id}`}
            onClick={() => onErase(original.viewer_id)}
          >
            Erase
          </Button>
        </Allowed>
      ),
    }),
  ])

export type ResourceUsage = Seen & UsageOf<'resource' | 'user_groups' | 'viewers'>

export const resourceColumns = columnsOf<ResourceUsage>((column) => [
  column.accessor('resource', {
    header: 'Dashboard',
    cell: ({ getValue }) =>
      getValue() || (
        <Text span inherit c="dimmed">
          Not named by the renderer
        </Text>
      ),
  }),
  column.accessor('user_groups', { header: 'User groups' }),
  column.accessor('viewers', { header: 'Viewers' }),
  column.accessor('active_days', { header: 'Days' }),
  column.accessor('last_seen_at', {
    header: 'Last seen',
    cell: ({ getValue }) => <Time value={getValue()} />,
  }),
])

/** A list of one user group does not count user groups. */
export const resourceColumnsOfOne = resourceColumns.filter(({ id }) => id !== 'user_groups')
