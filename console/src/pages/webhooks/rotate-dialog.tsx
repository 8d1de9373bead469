import { NativeSelect, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { Times } from '../../components/time.tsx'
import { queryKey, type WebhookEndpoint } from './webhook-endpoint.ts'

const day = 86_400

const overlaps = [
  { value: '0', label: 'At once' },
  { value: String(3600), label: 'After 1 hour' },
  { value: String(day), label: 'After 24 hours' },
  { value: String(7 * day), label: 'After 7 days' },
  { value: String(30 * day), label: 'After 30 days' },
]

interface Rotated {
  readonly secret: string
  /** Times until which replaced secrets sign too. */
  readonly overlapEnds: readonly string[]
}

interface Props {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}

/** Asks when the old secret stops, and shows the new one once. */
export function RotateDialog({ endpoint, onClose }: Props) {
  const [rotated, setRotated] = useState<Rotated>()
  if (rotated === undefined) return <Question endpoint={endpoint} onRotated={setRotated} onClose={onClose} />
  return (
    <ShownOnce
      title={`The secret of ${endpoint.name} is replaced`}
      label="secret"
      value={rotated.secret}
      onClose={onClose}
    >
      <Text size="sm">
        Give it to the receiver.{' '}
        {rotated.overlapEnds.length === 0 ? (
          'The old one no longer signs.'
        ) : (
          <>
            Replaced ones sign too, until <Times values={rotated.overlapEnds} />.
          </>
        )}
      </Text>
    </ShownOnce>
  )
}

interface QuestionProps extends Props {
  readonly onRotated: (rotated: Rotated) => void
}

function Question({ endpoint: { id, name }, onRotated, onClose }: QuestionProps) {
  const [seconds, setSeconds] = useState(String(day))
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const overlap = Number(seconds)
      const path = `/webhook-endpoints/${id}/rotate-secret`
      // Not a mutation result, because those are cached for a while.
      const { secret, webhook_endpoint } = await postAdmin<Wire['WebhookEndpointSecretResponse']>(path, {
        body: { overlap_seconds: overlap },
      })
      onRotated({ secret, overlapEnds: webhook_endpoint.previous_secrets_valid_until })
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  })
  return (
    <ConfirmDialog
      title={`Rotate the secret of ${name}?`}
      action="Rotate the secret"
      destructive={seconds === '0'}
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        This creates another secret, which is shown only once. Until the old one stops, both sign each
        request, and the receiver may verify with either. Secrets that were replaced earlier stop at their own
        times.
      </Text>
      <NativeSelect
        label="When does the old one stop?"
        description={
          seconds === '0'
            ? 'Choose this if it leaked. A receiver that has only this one refuses all events until it has the new one.'
            : 'Give the receiver the new one before.'
        }
        data={overlaps}
        value={seconds}
        onChange={(event) => setSeconds(event.currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
