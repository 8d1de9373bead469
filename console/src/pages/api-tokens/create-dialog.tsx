import { Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import { fieldMessage } from '../../api/field-message.ts'
import type { Wire } from '../../api/wire.ts'
import { useFocusReturn } from '../../components/confirm-dialog.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useSession } from '../../session/store.ts'
import { scopes as allScopes } from './api-token.ts'

const day = 24 * 3600

const lifetimes = [
  { value: String(30 * day), label: '30 days' },
  { value: String(90 * day), label: '90 days' },
  { value: String(365 * day), label: '1 year' },
  { value: '', label: 'Never' },
]

/** Creates an API token and shows it once. Keeps it only while it is shown. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<{ readonly name: string; readonly token: string }>()
  useFocusReturn()
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
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const body = { name, scopes, ...(lifetime !== '' && { expires_in_seconds: Number(lifetime) }) }
      // Not a mutation result, because those are cached for a while.
      const { api_token: apiToken, token } = await postAdmin<Wire['NewApiTokenResponse']>('/api-tokens', {
        body,
      })
      void queryClient.invalidateQueries({ queryKey: ['api-tokens'] })
      onCreated({ name: apiToken.name, token })
    },
  })
  const nameMessage = fieldMessage(error, '/name')
  const scopesMessage =
    scopes.length === 0 && error !== null ? 'Choose at least one.' : fieldMessage(error, '/scopes')
  return (
    <FormDialog
      title={`Create an API token for ${environment}`}
      action="Create"
      pending={isPending}
      failure={error}
      error={nameMessage === undefined && scopesMessage === undefined ? error : undefined}
      onSubmit={mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What it is for, such as backend or nightly export."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={nameMessage}
        required
        data-autofocus
        autoComplete="off"
      />
      <ScopesField value={scopes} onChange={setScopes} error={scopesMessage} />
      <NativeSelect
        label="Expires after"
        data={lifetimes}
        value={lifetime}
        onChange={(event) => setLifetime(event.currentTarget.value)}
      />
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
          <Checkbox key={scope} value={scope} label={scope} description={text} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
