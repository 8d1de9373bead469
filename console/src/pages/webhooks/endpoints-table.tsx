import { Badge, Text } from '@mantine/core'
import { countOf } from '../../components/counts.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconPlayerPause,
  IconPlayerPlay,
} from '../../components/icons.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

const columns = columnsOf<WebhookEndpoint>((column) => [
  column.accessor('name', { header: 'Name', cell: ({ row: { original } }) => <Name endpoint={original} /> }),
  column.accessor(({ event_types }) => event_types.join(', '), {
    id: 'event_types',
    header: 'Events',
    enableSorting: false,
    cell: ({ row: { original } }) => <EventTypes endpoint={original} />,
  }),
  column.accessor((endpoint) => states[shownState(endpoint)].label, {
    id: 'state',
    header: 'State',
    cell: ({ row: { original } }) => <EndpointState endpoint={original} />,
  }),
  column.accessor((endpoint) => endpoint.last_success_at ?? '', {
    id: 'last_success_at',
    header: 'Last success',
    cell: ({ row: { original } }) => <LastSuccess endpoint={original} />,
  }),
  column.accessor((endpoint) => endpoint.failing_since ?? '', {
    id: 'failing_since',
    header: 'Failing since',
    cell: ({ row: { original } }) => <FailingSince endpoint={original} />,
  }),
  column.accessor(waitingOf, {
    id: 'waiting',
    header: 'Waiting',
    cell: ({ row: { original } }) => countOf(waitingOf(original), 'event'),
  }),
])

export function EndpointsTable({ endpoints }: { readonly endpoints: readonly WebhookEndpoint[] }) {
  return (
    <DataTable
      label="Webhook endpoints"
      columns={columns}
      rows={endpoints}
      rowId={({ id }) => String(id)}
      sortable
    />
  )
}

interface Props {
  readonly endpoint: WebhookEndpoint
}

function Name({ endpoint: { id, name, url } }: Props) {
  return (
    <>
      <TextLink to="/webhooks/$endpointId" params={{ endpointId: String(id) }} size="sm" fw={600}>
        {name}
      </TextLink>
      <Text size="xs" fw={400} c="dimmed" ff="monospace">
        {url}
      </Text>
    </>
  )
}

export function EventTypes({ endpoint: { event_types: types } }: Props) {
  if (types.length === 0) return 'all'
  return (
    <Text span size="xs" ff="monospace">
      {types.join(', ')}
    </Text>
  )
}

const states = {
  active: { label: 'Active', variant: 'light', color: 'teal', Icon: IconCheck },
  failing: { label: 'Failing', variant: 'filled', color: '#a63a00', Icon: IconAlertTriangle },
  unknown: { label: 'Active', variant: 'light', color: 'gray', Icon: IconPlayerPlay },
  paused: { label: 'Paused', variant: 'light', color: 'gray', Icon: IconPlayerPause },
  disabled: { label: 'Disabled', variant: 'filled', color: '#a63a00', Icon: IconBan },
} as const

/** Returns the state to show: that of the last attempt if the endpoint is active. */
function shownState({ state, health }: WebhookEndpoint): keyof typeof states {
  return state === 'active' && health !== 'ok' ? health : state
}

export function EndpointState({ endpoint }: Props) {
  const { label, variant, color, Icon } = states[shownState(endpoint)]
  return (
    <Badge variant={variant} color={color} leftSection={<Icon size={12} aria-hidden />} miw="max-content">
      {label}
    </Badge>
  )
}

export function LastSuccess({ endpoint: { last_success_at: time } }: Props) {
  return time === null ? 'never' : <Time value={time} as="age" />
}

export function FailingSince({ endpoint: { failing_since: time } }: Props) {
  return time === null ? 'not failing' : <Time value={time} as="age" fw={600} c="var(--console-bad)" />
}

/** Returns the number of undelivered events. */
export function waitingOf({ pending, failing }: WebhookEndpoint): number {
  return pending + failing
}
