import { Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invalidInput } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { announce } from '../../components/toast.tsx'
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
    mutationFn: async () => {
      if (since === '') throw invalidInput([{ path: '/since', message: 'choose a date and time' }])
      const body = { since: timestampOf(since), ...(until !== '' && { until: timestampOf(until) }) }
      return postAdmin<Wire['WebhookRedeliveryResponse']>(`/webhook-endpoints/${id}/redeliver`, { body })
    },
    onSuccess: async ({ redelivered }) => {
      await queryClient.invalidateQueries({ queryKey })
      announce({ title: 'Sending again', message: `${countOf(redelivered, 'event')} to ${name}.` })
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Redeliver events to ${name}`}
      action="Redeliver"
      pending={isPending}
      error={error}
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
        error={fieldMessage(error, '/since')}
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
const timestampOf = (time: string) => new Date(time).toISOString()
