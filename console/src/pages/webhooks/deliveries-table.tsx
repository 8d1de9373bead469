import { Badge, Button, Group, Text } from '@mantine/core'
import { useMemo } from 'react'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { IconAlertTriangle, IconCheck, IconDots } from '../../components/icons.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { deliveryStateLabels, type WebhookDelivery } from './webhook-endpoint.ts'

interface Actions {
  readonly onShow: (delivery: WebhookDelivery) => void
  readonly onRedeliver: (delivery: WebhookDelivery) => void
}

const columnsWith = (actions: Actions) =>
  columnsOf<WebhookDelivery>((column) => [
    column.accessor('event_type', {
      header: 'Event',
      cell: ({ row: { original } }) => <Event delivery={original} />,
    }),
    column.accessor('team_id', {
      header: 'User group',
      cell: ({ getValue }) => <UserGroup teamId={getValue()} />,
    }),
    column.accessor('state', {
      header: 'State',
      cell: ({ row: { original } }) => <State delivery={original} />,
    }),
    column.display({
      id: 'response',
      header: 'Response',
      cell: ({ row: { original } }) => <Response delivery={original} />,
    }),
    column.accessor('last_attempt_at', {
      header: 'Last attempt',
      cell: ({ row: { original } }) => <LastAttempt delivery={original} />,
    }),
    column.display({
      id: 'actions',
      header: '',
      cell: ({ row: { original } }) => <Buttons delivery={original} {...actions} />,
    }),
  ])

interface TableProps extends Actions {
  readonly deliveries: readonly WebhookDelivery[]
}

export function DeliveriesTable({ deliveries, onShow, onRedeliver }: TableProps) {
  const columns = useMemo(() => columnsWith({ onShow, onRedeliver }), [onShow, onRedeliver])
  return <DataTable label="Deliveries" columns={columns} rows={deliveries} rowId={({ id }) => String(id)} />
}

interface Props {
  readonly delivery: WebhookDelivery
}

function Event({ delivery: { event_type: type, event_id: id, occurred_at: time } }: Props) {
  return (
    <>
      <Text span size="sm" fw={600}>
        {type}
      </Text>
      <Text size="xs" fw={400} c="dimmed">
        <Time value={time} />, <span>{id}</span>
      </Text>
    </>
  )
}

function UserGroup({ teamId }: { readonly teamId: number | null }) {
  if (teamId === null)
    return (
      <Text span size="sm" c="dimmed">
        None
      </Text>
    )
  return (
    <TextLink to="/user-groups/$teamId" params={{ teamId: String(teamId) }} size="sm">
      {teamId}
    </TextLink>
  )
}

const states = {
  pending: { variant: 'light', color: 'gray', Icon: IconDots },
  failing: { variant: 'filled', color: '#a63a00', Icon: IconAlertTriangle },
  delivered: { variant: 'light', color: 'teal', Icon: IconCheck },
} as const

function State({ delivery: { state } }: Props) {
  const { variant, color, Icon } = states[state]
  return (
    <Badge variant={variant} color={color} leftSection={<Icon size={12} aria-hidden />} miw="max-content">
      {deliveryStateLabels[state]}
    </Badge>
  )
}

function Response({ delivery: { response_status: status, error_code: code, duration_ms: ms } }: Props) {
  return (
    <>
      {status ?? code ?? 'none yet'}
      {ms !== null && (
        <Text size="xs" c="dimmed">
          {ms} ms
        </Text>
      )}
    </>
  )
}

function LastAttempt({ delivery: { last_attempt_at: last, next_attempt_at: next, attempts } }: Props) {
  if (last === null) return 'none yet'
  return (
    <>
      <Time value={last} />
      <Text size="xs" c="dimmed">
        {attempts > 1 && `Attempt ${attempts}. `}
        {next !== null && (
          <>
            Next: <Time value={next} />.
          </>
        )}
      </Text>
    </>
  )
}

function Buttons({ delivery, onShow, onRedeliver }: Props & Actions) {
  const { event_type: type, id, state } = delivery
  return (
    <Group justify="flex-end" gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => onShow(delivery)}
        aria-label={`Details of ${type} (${id})`}
      >
        Details
      </Button>
      {state !== 'pending' && (
        <Allowed to="redeliverWebhook">
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => onRedeliver(delivery)}
            aria-label={`Redeliver ${type} (${id})`}
          >
            Redeliver
          </Button>
        </Allowed>
      )}
    </Group>
  )
}
