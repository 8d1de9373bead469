import { NativeSelect, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { ConfirmDialog, useFocusReturn } from '../../components/confirm-dialog.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { Time } from '../../components/time.tsx'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

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
  /** Time until which the old secret signs too. Null if it has stopped. */
  readonly overlapEnd: string | null
}

interface Props {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}

/** Asks when the old secret stops, and shows the new one once. */
export function RotateDialog({ endpoint, onClose }: Props) {
  const [rotated, setRotated] = useState<Rotated>()
  useFocusReturn()
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
        {rotated.overlapEnd === null ? (
          'The old one no longer signs.'
        ) : (
          <>
            The old one signs too until <Time value={rotated.overlapEnd} />.
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
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const overlap = Number(seconds)
      const path = `/webhook-endpoints/${id}/rotate-secret`
      // Not a mutation result, because those are cached for a while.
      const { secret } = await postAdmin<Wire['WebhookEndpointSecretResponse']>(path, {
        body: { overlap_seconds: overlap },
      })
      const overlapEnd = overlap === 0 ? null : new Date(Date.now() + overlap * 1000).toISOString()
      onRotated({ secret, overlapEnd })
    },
  })
  return (
    <ConfirmDialog
      opened
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
        request, and the receiver may verify with either.
      </Text>
      <NativeSelect
        label="When does the old one stop?"
        description={
          seconds === '0'
            ? 'Choose this if it leaked. The receiver refuses all events until it has the new one.'
            : 'Give the receiver the new one before.'
        }
        data={overlaps}
        value={seconds}
        onChange={(event) => setSeconds(event.currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
