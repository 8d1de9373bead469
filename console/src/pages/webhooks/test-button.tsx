import { useMutation } from '@tanstack/react-query'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { IconWebhook } from '../../components/icons.tsx'
import { ErrorAlert } from '../../components/states.tsx'
import { Exchange } from './exchange.tsx'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

type Result = Wire['WebhookTestResponse']

/** Sends a test event and shows the response. */
export function TestButton({ endpoint: { id, name } }: { readonly endpoint: WebhookEndpoint }) {
  const test = useMutation({ mutationFn: () => postAdmin<Result>(`/webhook-endpoints/${id}/test`) })
  return (
    <>
      <ActionButton
        variant="default"
        leftSection={<IconWebhook size={16} aria-hidden />}
        pending={test.isPending}
        onClick={() => test.mutate()}
      >
        Send a test event
      </ActionButton>
      {(test.isSuccess || test.isError) && (
        <ResultDialog name={name} result={test.data} error={test.error} onClose={test.reset} />
      )}
    </>
  )
}

interface Props {
  readonly name: string
  readonly result: Result | undefined
  readonly error: Error | null
  readonly onClose: () => void
}

function ResultDialog({ name, result, error, onClose }: Props) {
  const outcome = result?.delivered === true ? 'received the test event' : 'did not receive the test event'
  return (
    <Dialog onClose={onClose} title={`${name} ${outcome}`} size="lg">
      {error !== null && <ErrorAlert error={error} title="The test event was not sent" />}
      {result !== undefined && <Exchange exchange={result} />}
    </Dialog>
  )
}
