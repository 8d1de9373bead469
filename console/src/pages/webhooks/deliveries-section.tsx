import { Button, Group, SegmentedControl } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'
import { IconRefresh } from '../../components/icons.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState, ErrorAlert, ErrorState, LoadingState } from '../../components/states.tsx'
import { announce } from '../../components/toast.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { DeliveriesTable } from './deliveries-table.tsx'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { RedeliverDialog } from './redeliver-dialog.tsx'
import {
  deliveryStateLabels,
  queryKey,
  readDeliverySearch,
  type WebhookDelivery,
  type WebhookEndpoint,
} from './webhook-endpoint.ts'

const from = '/webhooks/$endpointId'

interface Props {
  readonly endpoint: WebhookEndpoint
}

/** The deliveries to one endpoint. */
export function DeliveriesSection({ endpoint }: Props) {
  const queryClient = useQueryClient()
  const [isRedelivering, setIsRedelivering] = useState(false)
  return (
    <Section
      title="Deliveries"
      description="The newest first, as long as the service keeps events."
      actions={
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} aria-hidden />}
            onClick={() => void queryClient.invalidateQueries({ queryKey })}
          >
            Look again
          </Button>
          <Allowed to="redeliverWebhooks">
            <Button size="xs" variant="default" onClick={() => setIsRedelivering(true)}>
              Redeliver a time range
            </Button>
          </Allowed>
        </Group>
      }
    >
      <StateFilter />
      <Deliveries endpoint={endpoint} />
      {isRedelivering && <RedeliverDialog endpoint={endpoint} onClose={() => setIsRedelivering(false)} />}
    </Section>
  )
}

function StateFilter() {
  const { state = '' } = useSearch({ from })
  const navigate = useNavigate({ from })
  return (
    <SegmentedControl
      aria-label="Which deliveries to list"
      size="xs"
      mb="sm"
      data={[
        { value: '', label: 'All' },
        ...Object.entries(deliveryStateLabels).map(([value, label]) => ({ value, label })),
      ]}
      value={state}
      onChange={(state) => void navigate({ search: readDeliverySearch({ state }) })}
    />
  )
}

function Deliveries({ endpoint }: Props) {
  const { id } = endpoint
  const [shown, setShown] = useState<WebhookDelivery>()
  // Without the job of any page.
  const search = readDeliverySearch({ ...useSearch({ from }) })
  const path = `/webhook-endpoints/${id}/deliveries`
  const found = usePages<Wire['WebhookDeliveryListResponse'], WebhookDelivery>({
    queryKey: [...queryKey, String(id), 'deliveries', search],
    path,
    query: { ...search },
    rowsOf: ({ deliveries }) => deliveries,
    pageRows: 50,
    refetchOnMount: 'always',
  })
  const redelivery = useRedelivery(path)
  const { rows, error, isPending, isError } = found
  return (
    <>
      {redelivery.error !== null && (
        <ErrorAlert error={redelivery.error} title="The event cannot be sent again" />
      )}
      {isPending && <LoadingState label="Loading the deliveries" />}
      {rows.length > 0 && (
        <DeliveriesTable deliveries={rows} onShow={setShown} onRedeliver={redelivery.mutate} />
      )}
      {isError ? (
        <ErrorState
          error={error}
          title="The deliveries cannot be listed"
          onRetry={() => void (rows.length === 0 ? found.refetch() : found.fetchNextPage())}
        />
      ) : (
        !isPending &&
        rows.length === 0 && (
          <EmptyState title={search.state === undefined ? 'No event yet' : 'No delivery is in this state'} />
        )
      )}
      <PagesFooter found={found} noun="event" />
      {shown !== undefined && (
        <DeliveryDialog endpoint={endpoint} delivery={shown} onClose={() => setShown(undefined)} />
      )}
    </>
  )
}

function useRedelivery(path: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id }: WebhookDelivery) => postAdmin(`${path}/${id}/redeliver`),
    onSuccess: async (_response, { event_type: type }) => {
      announce({ title: 'Sending again', message: type })
      await queryClient.invalidateQueries({ queryKey })
    },
  })
}
