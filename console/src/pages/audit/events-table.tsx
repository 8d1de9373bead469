import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { Author } from '../../components/author.tsx'
import { numberText } from '../../components/counts.tsx'
import { CustomerText } from '../../components/customer-text.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { actionLabels, groupsOf, type Action, type AuditEvent, type EventGroup } from './search.ts'

const columns = columnsOf<EventGroup>((column) => [
  column.accessor(({ first }) => first.occurred_at, {
    id: 'when',
    header: 'When',
    cell: ({ getValue }) => <Time value={getValue()} />,
  }),
  column.display({
    id: 'what',
    header: 'What',
    cell: ({ row: { original } }) =>
      original.events.length === 1 ? <What event={original.first} /> : <Several events={original.events} />,
  }),
  column.display({
    id: 'user_group',
    header: 'User group',
    cell: ({ row: { original } }) =>
      original.events.length === 1 ? (
        <Of userGroup={original.first.user_group} />
      ) : (
        <TextLink to="/audit" search={{ request_id: original.first.request_id ?? '' }} size="sm">
          Show all {numberText(original.events.length)}
        </TextLink>
      ),
  }),
  column.accessor(({ first }) => first.author, {
    id: 'author',
    header: 'By',
    cell: ({ getValue }) => <By author={getValue()} />,
  }),
  column.accessor(({ first }) => first.request_id, {
    id: 'request_id',
    header: 'Request',
    cell: ({ getValue }) => (
      <Text span size="xs" ff="monospace">
        {getValue()}
      </Text>
    ),
  }),
])

interface Props {
  readonly events: readonly AuditEvent[]
  /** True if events of one request are one row. */
  readonly grouped: boolean
  readonly onEnd: (() => void) | undefined
}

export function EventsTable({ events, grouped, onEnd }: Props) {
  const groups = useMemo(
    () => (grouped ? groupsOf(events) : events.map((event) => ({ first: event, events: [event] }))),
    [events, grouped],
  )
  return (
    <DataTable
      label="Events"
      columns={columns}
      rows={groups}
      rowId={({ first }) => first.event_id}
      onEnd={onEnd}
    />
  )
}

/** Counts the changes of one request by action. */
function Several({ events }: Pick<Props, 'events'>) {
  const counts = new Map<Action, number>()
  for (const { action } of events) counts.set(action, (counts.get(action) ?? 0) + 1)
  return (
    <>
      {[...counts].map(([action, count]) => (
        <Text key={action} size="sm">
          {actionLabels[action]}: {numberText(count)}
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        By one request, such as an import
      </Text>
    </>
  )
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

/** Shows the author, with a link that adds it to the search. */
function By({ author }: Pick<AuditEvent, 'author'>) {
  return (
    <TextLink from="/audit" to="/audit" search={(search) => ({ ...search, author })} size="sm">
      <Author value={author} />
    </TextLink>
  )
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
      <CustomerText>{userGroup.provided_id}</CustomerText>
    </TextLink>
  )
}
