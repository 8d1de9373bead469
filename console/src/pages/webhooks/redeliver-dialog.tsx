import { Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { queryKey, type WebhookEndpoint } from './webhook-endpoint.ts'

interface Props {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}

/** Asks for the time range whose events are sent again. */
export function RedeliverDialog({ endpoint: { id, name }, onClose }: Props) {
  const queryClient = useQueryClient()
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => {
      const body = { since: timestampOf(since), ...(until !== '' && { until: timestampOf(until) }) }
      return postAdmin<Wire['WebhookRedeliveryResponse']>(`/webhook-endpoints/${id}/redeliver`, { body })
    },
    onSuccess: async ({ redelivered }) => {
      await queryClient.invalidateQueries({ queryKey })
      notifications.show({ title: 'Sending again', message: `${countOf(redelivered, 'event')} to ${name}.` })
      onClose()
    },
  })
  const isMissing = since === '' && error !== null
  return (
    <FormDialog
      title={`Redeliver events to ${name}`}
      action="Redeliver"
      pending={isPending}
      failure={error}
      error={isMissing ? undefined : error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        This sends all events of a time range again, also those that were delivered. The receiver sees the
        same ids. The times are in the time zone of this browser.
      </Text>
      <TextInput
        label="Since"
        type="datetime-local"
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
        error={isMissing ? 'Choose a date and time.' : undefined}
        required
        data-autofocus
      />
      <TextInput
        label="Until"
        description="Events before this time. Empty for all."
        type="datetime-local"
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

/** Returns a time of a `datetime-local` field, which is in the time zone of the browser, for the API. */
const timestampOf = (time: string) => time && new Date(time).toISOString()
