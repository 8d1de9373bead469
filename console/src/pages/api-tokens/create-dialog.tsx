import { Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import { fieldMessage } from '../../api/field-message.ts'
import type { Wire } from '../../api/wire.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { startOfDay } from '../../components/time-range.ts'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useSession } from '../../session/store.ts'
import { scopes as allScopes } from './api-token.ts'

const day = 24 * 3600

const lifetimes = [
  { value: String(30 * day), label: '30 days' },
  { value: String(90 * day), label: '90 days' },
  { value: String(365 * day), label: '1 year' },
  { value: 'day', label: 'On a day of your choice' },
  { value: '', label: 'Never' },
]

/** Returns the members of the request that set the expiry. The last day counts as a whole. */
function expiryOf(lifetime: string, lastDay: string) {
  if (lifetime === '') return {}
  if (lifetime !== 'day') return { expires_in_seconds: Number(lifetime) }
  const seconds = lastDay === '' ? 0 : (Date.parse(startOfDay(lastDay, 1)) - Date.now()) / 1000
  return { expires_in_seconds: Math.round(seconds) }
}

/** Creates an API token and shows it once. Keeps it only while it is shown. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<{ readonly name: string; readonly token: string }>()
  return created === undefined ? (
    <Form onCreated={setCreated} onClose={onClose} />
  ) : (
    <ShownOnce
      title={`The API token ${created.name} was created`}
      label="API token"
      value={created.token}
      onClose={onClose}
    />
  )
}

interface FormProps {
  readonly onCreated: (created: { readonly name: string; readonly token: string }) => void
  readonly onClose: () => void
}

function Form({ onCreated, onClose }: FormProps) {
  const queryClient = useQueryClient()
  const { api_environment_tag: environment } = useSession()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>([])
  const [lifetime, setLifetime] = useState(lifetimes[1]?.value ?? '')
  const [lastDay, setLastDay] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const body = { name, scopes, ...expiryOf(lifetime, lastDay) }
      // Not a mutation result, because those are cached for a while.
      const { api_token: apiToken, token } = await postAdmin<Wire['NewApiTokenResponse']>('/api-tokens', {
        body,
      })
      void queryClient.invalidateQueries({ queryKey: ['api-tokens'] })
      onCreated({ name: apiToken.name, token })
    },
  })
  const expiryMessage =
    fieldMessage(error, '/expires_in_seconds') && 'Choose a day from today on, at most ten years ahead.'
  return (
    <FormDialog
      title={`Create an API token for ${environment}`}
      action="Create"
      pending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What it is for, such as backend or nightly export."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldMessage(error, '/name')}
        required
        data-autofocus
        autoComplete="off"
      />
      <ScopesField value={scopes} onChange={setScopes} error={fieldMessage(error, '/scopes')} />
      <NativeSelect
        label="Expires after"
        data={lifetimes}
        value={lifetime}
        onChange={(event) => setLifetime(event.currentTarget.value)}
      />
      {lifetime === 'day' && (
        <TextInput
          label="Last day"
          description="It works until the end of this day, in the time zone of this browser."
          type="date"
          value={lastDay}
          onChange={(event) => setLastDay(event.currentTarget.value)}
          error={expiryMessage}
          required
        />
      )}
    </FormDialog>
  )
}

interface ScopesFieldProps {
  readonly value: string[]
  readonly onChange: (scopes: string[]) => void
  readonly error: string | undefined
}

function ScopesField({ value, onChange, error }: ScopesFieldProps) {
  return (
    <Checkbox.Group
      label="Scopes"
      description="What it may do. Give it no more than it needs."
      value={value}
      onChange={onChange}
      error={error}
      required
    >
      <Stack gap="xs" mt="xs">
        {allScopes.map(({ scope, text }) => (
          <Checkbox
            key={scope}
            value={scope}
            label={scope}
            description={text}
            {...(error !== undefined && { 'aria-invalid': true })}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
