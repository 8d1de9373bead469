import { Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../api/field-message.ts'
import { requestAdmin, postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { announce } from '../../components/toast.tsx'
import { useSession } from '../../session/store.ts'
import { eventTypes, queryKey, type WebhookEndpoint } from './webhook-endpoint.ts'

interface Fields {
  readonly name: string
  readonly url: string
  readonly event_types: string[]
}

/** Creates a webhook endpoint and shows its secret once. Keeps the secret only while it is shown. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const { api_environment_tag: environment } = useSession()
  const [created, setCreated] = useState<Wire['WebhookEndpointSecretResponse']>()
  if (created === undefined) {
    return (
      <Form
        title={`Create a webhook endpoint for ${environment}`}
        action="Create"
        initial={{ name: '', url: '', event_types: [] }}
        onSend={async (body) => {
          // Not a mutation result, because those are cached for a while.
          setCreated(await postAdmin<Wire['WebhookEndpointSecretResponse']>('/webhook-endpoints', { body }))
          void queryClient.invalidateQueries({ queryKey })
        }}
        onClose={onClose}
      />
    )
  }
  return (
    <ShownOnce
      title={`The webhook endpoint ${created.webhook_endpoint.name} was created`}
      label="secret"
      value={created.secret}
      onClose={onClose}
    >
      <Text size="sm">The receiver verifies signatures with this secret.</Text>
    </ShownOnce>
  )
}

interface EditProps {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}

export function EditDialog({ endpoint: { id, name, url, event_types }, onClose }: EditProps) {
  const queryClient = useQueryClient()
  return (
    <Form
      title={`Edit ${name}`}
      action="Save"
      initial={{ name, url, event_types: [...event_types] }}
      onSend={async (body) => {
        await requestAdmin('PATCH', `/webhook-endpoints/${id}`, { body })
        await queryClient.invalidateQueries({ queryKey })
        announce({ title: 'Saved', message: body.name })
        onClose()
      }}
      onClose={onClose}
    />
  )
}

interface FormProps {
  readonly title: string
  readonly action: string
  readonly initial: Fields
  readonly onSend: (fields: Fields) => Promise<void>
  readonly onClose: () => void
}

function Form({ title, action, initial, onSend, onClose }: FormProps) {
  const [fields, setFields] = useState(initial)
  const change = (changes: Partial<Fields>) => setFields({ ...fields, ...changes })
  const { mutate, isPending, error } = useMutation({ mutationFn: () => onSend(fields) })
  return (
    <FormDialog
      title={title}
      action={action}
      pending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Name for people, such as Backend."
        value={fields.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={fieldMessage(error, '/name')}
        required
        data-autofocus
        autoComplete="off"
      />
      <TextInput
        label="URL"
        description="Receives each event as a POST request. It must be an https URL at a public address, unless settings of the service allow others."
        type="url"
        value={fields.url}
        onChange={(event) => change({ url: event.currentTarget.value })}
        error={fieldMessage(error, '/url')}
        required
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
      />
      <Checkbox.Group
        label="Events"
        description="It receives all events if you choose none."
        value={fields.event_types}
        onChange={(types) => change({ event_types: types })}
      >
        <Stack gap="xs" mt="xs">
          {eventTypes.map((type) => (
            <Checkbox key={type} value={type} label={type} size="xs" />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  )
}
