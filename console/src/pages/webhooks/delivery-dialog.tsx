import { useQuery } from '@tanstack/react-query'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { Exchange } from './exchange.tsx'
import { deliveryQuery, type WebhookDelivery, type WebhookEndpoint } from './webhook-endpoint.ts'

interface Props {
  readonly endpoint: WebhookEndpoint
  readonly delivery: WebhookDelivery
  readonly onClose: () => void
}

/** Shows the last attempt of a delivery. */
export function DeliveryDialog({ endpoint, delivery, onClose }: Props) {
  const { data, error, refetch } = useQuery(deliveryQuery(endpoint, delivery))
  return (
    <Dialog onClose={onClose} title={`Last attempt of ${delivery.event_type}`} size="lg">
      {data !== undefined ? (
        <Exchange exchange={data} />
      ) : error !== null ? (
        <ErrorState error={error} title="The delivery cannot be shown" onRetry={() => void refetch()} />
      ) : (
        <LoadingState label="Loading the delivery" />
      )}
    </Dialog>
  )
}
