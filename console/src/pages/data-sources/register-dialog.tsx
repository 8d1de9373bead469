import { TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import { ApiError } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import type { Schema } from '../../api/registry.ts'
import { FormDialog } from '../../components/form-dialog.tsx'

interface Props {
  /** Schema of the new data source. Undefined to register a schema. */
  readonly schema?: Schema
  /** Initial value of the provided id. */
  readonly providedId: string | undefined
  readonly onClose: () => void
}

export function RegisterDialog({ schema, providedId: proposed = '', onClose }: Props) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [providedId, setProvidedId] = useState(proposed)
  const noun = schema === undefined ? 'schema' : 'data source'
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      schema === undefined
        ? postAdmin('/schemas', { body: { provided_id: providedId, name } })
        : postAdmin('/data-sources', { body: { schema_id: schema.id, provided_id: providedId, name } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [schema === undefined ? 'schemas' : 'data-sources'] })
      notifications.show({
        title: `The ${noun} is registered`,
        message: `Mappings can name it as ${providedId} from now on.`,
      })
      onClose()
    },
  })
  const idMessage = idMessageOf(error, noun) ?? fieldMessage(error, '/provided_id')
  const nameMessage = fieldMessage(error, '/name')
  return (
    <FormDialog
      title={schema === undefined ? 'Register a schema' : `Register a data source of ${schema.name}`}
      action="Register"
      pending={isPending}
      failure={error}
      error={idMessage === undefined && nameMessage === undefined ? error : undefined}
      onSubmit={mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description={`Name for people, such as ${schema === undefined ? 'Sales' : 'Warehouse EU'}.`}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={nameMessage}
        required
        data-autofocus
        autoComplete="off"
      />
      <TextInput
        label="Provided id"
        description={`Id in mappings, such as ${schema === undefined ? 'sales' : 'warehouse-eu'}. Use the same id in Testing and Customer, so that mappings can be promoted.`}
        value={providedId}
        onChange={(event) => setProvidedId(event.currentTarget.value)}
        error={idMessage}
        required
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
      />
    </FormDialog>
  )
}

function idMessageOf(error: unknown, noun: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'already_exists') return `Another ${noun} has this provided id. Choose another one.`
  if (error.code === 'in_use')
    return `User groups are mapped to the ${noun} whose id is the same text. Choose another provided id.`
  return undefined
}
