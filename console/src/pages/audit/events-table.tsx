import { Text } from '@mantine/core'
import { Author } from '../../components/author.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { actionLabels, type AuditEvent } from './search.ts'

const columns = columnsOf<AuditEvent>((column) => [
  column.accessor('occurred_at', { header: 'When', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'what',
    header: 'What',
    cell: ({ row: { original } }) => <What event={original} />,
  }),
  column.accessor('user_group', {
    header: 'User group',
    cell: ({ getValue }) => <Of userGroup={getValue()} />,
  }),
  column.accessor('author', { header: 'By', cell: ({ getValue }) => <Author value={getValue()} /> }),
  column.accessor('request_id', {
    header: 'Request',
    cell: ({ getValue }) => (
      <Text span size="xs" ff="monospace">
        {getValue()}
      </Text>
    ),
  }),
])

export function EventsTable({ events }: { readonly events: readonly AuditEvent[] }) {
  return <DataTable label="Events" columns={columns} rows={events} rowId={({ event_id }) => event_id} />
}

function What({ event: { action, details } }: { readonly event: AuditEvent }) {
  const more = details === null ? '' : formatDetails(details)
  return (
    <>
      <Text size="sm">{actionLabels[action]}</Text>
      {more !== '' && (
        <Text size="xs" c="dimmed">
          {more}
        </Text>
      )}
    </>
  )
}

/** Formats `changed_fields: ["name"]` as "Changed fields: name". */
function formatDetails(details: Record<string, unknown>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const words = name.replaceAll('_', ' ').replace(/^api /, 'API ')
      const text = Array.isArray(value) ? value.join(', ') : String(value)
      return `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${text}`
    })
    .join('; ')
}

function Of({ userGroup }: { readonly userGroup: AuditEvent['user_group'] }) {
  if (userGroup === null)
    return (
      <Text span size="sm" c="dimmed">
        None
      </Text>
    )
  return (
    <TextLink to="/user-groups/$teamId" params={{ teamId: String(userGroup.team_id) }} size="sm">
      {userGroup.provided_id}
    </TextLink>
  )
}
