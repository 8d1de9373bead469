import { Button, Group, Menu, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { countOf } from '../../components/counts.tsx'
import { Fact } from '../../components/fact.tsx'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconTrash,
} from '../../components/icons.tsx'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { LoadingState, NotShownState } from '../../components/states.tsx'
import { Time, Times } from '../../components/time.tsx'
import { WarningAlert } from '../../components/warning-alert.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'
import { EditDialog } from './endpoint-dialogs.tsx'
import { EndpointState, EventTypes, FailingSince, LastSuccess, waitingOf } from './endpoints-table.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { DeleteDialog, PauseDialog, ResumeDialog } from './state-dialogs.tsx'
import { TestButton } from './test-button.tsx'
import { endpointQuery, type WebhookEndpoint } from './webhook-endpoint.ts'

export function WebhookEndpointPage() {
  const { endpointId } = useParams({ from: '/webhooks/$endpointId' })
  const { data: endpoint, error, refetch } = useQuery(endpointQuery(endpointId))
  return (
    <>
      {/* One for all states, so that the focus stays on it. */}
      <PageHeader
        title={endpoint?.name ?? 'Webhook endpoint'}
        description={endpoint && <Description endpoint={endpoint} />}
        actions={
          endpoint && (
            // All of them need the same scope.
            <Allowed to="updateWebhookEndpoint">
              <Actions key={endpointId} endpoint={endpoint} />
            </Allowed>
          )
        }
      />
      {endpoint !== undefined ? (
        <Stack key={endpointId} gap="md">
          <Health endpoint={endpoint} />
          <DeliveriesSection endpoint={endpoint} />
        </Stack>
      ) : error !== null ? (
        <NotShownState error={error} name="webhook endpoint" onRetry={() => void refetch()}>
          It may have been deleted, or it belongs to the other environment.{' '}
          <TextLink to="/webhooks" size="sm" underline="always">
            Show the webhook endpoints
          </TextLink>
        </NotShownState>
      ) : (
        <LoadingState lines={9} label="Loading the webhook endpoint" />
      )}
    </>
  )
}

interface Props {
  readonly endpoint: WebhookEndpoint
}

function Description({ endpoint }: Props) {
  return (
    <Group gap="xs">
      <EndpointState endpoint={endpoint} />
      <Text span size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {endpoint.url}
      </Text>
    </Group>
  )
}

function Health({ endpoint }: Props) {
  const { state, oldest_event_at: oldest, previous_secrets_valid_until: secretEnds } = endpoint
  return (
    <Section title="Health">
      {state === 'disabled' && (
        <WarningAlert title="The service disabled this endpoint">
          It failed for 3 days, or responded 410. Events wait. Fix the receiver, then resume the endpoint.
        </WarningAlert>
      )}
      <SimpleGrid component="dl" cols={{ base: 1, sm: 4 }} spacing="sm" m={0} mt="xs">
        <Fact term="Last success">
          <LastSuccess endpoint={endpoint} />
        </Fact>
        <Fact term="Failing since">
          <FailingSince endpoint={endpoint} />
        </Fact>
        <Fact term="Waiting">
          {countOf(waitingOf(endpoint), 'event')}
          {oldest !== null && (
            <>
              , the oldest from <Time value={oldest} />
            </>
          )}
        </Fact>
        <Fact term="Events">
          <EventTypes endpoint={endpoint} />
        </Fact>
        {secretEnds.length > 0 && (
          <Fact term="Replaced secrets sign until">
            <Times values={secretEnds} />
          </Fact>
        )}
      </SimpleGrid>
    </Section>
  )
}

const dialogs = {
  edit: EditDialog,
  rotate: RotateDialog,
  pause: PauseDialog,
  resume: ResumeDialog,
  delete: DeleteDialog,
}

function Actions({ endpoint }: Props) {
  const [open, setOpen] = useState<keyof typeof dialogs>()
  const Dialog = open && dialogs[open]
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPencil size={16} aria-hidden />}
        onClick={() => setOpen('edit')}
      >
        Edit
      </Button>
      {endpoint.state === 'active' ? (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          onClick={() => setOpen('pause')}
        >
          Pause
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => setOpen('resume')}
        >
          Resume
        </Button>
      )}
      <TestButton endpoint={endpoint} />
      <Menu position="bottom-end" returnFocus>
        <Menu.Target>
          <Button variant="default" leftSection={<IconDots size={16} aria-hidden />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => setOpen('rotate')}>
            Rotate secret
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setOpen('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {Dialog && <Dialog endpoint={endpoint} onClose={() => setOpen(undefined)} />}
    </>
  )
}
