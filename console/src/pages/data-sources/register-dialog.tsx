import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import { assignTo } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import type { Schema } from '../../api/registry.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { announce } from '../../components/toast.tsx'

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
    mutationFn: () => {
      const body = { provided_id: providedId, name }
      const registered =
        schema === undefined
          ? postAdmin('/schemas', { body })
          : postAdmin('/data-sources', { body: { ...body, schema_id: schema.id } })
      return registered.catch(assignTo(faultsOf(noun)))
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [schema === undefined ? 'schemas' : 'data-sources'] })
      announce({
        title: `The ${noun} is registered`,
        message: `Mappings can name it as ${providedId} from now on.`,
      })
      onClose()
    },
  })
  return (
    <FormDialog
      title={schema === undefined ? 'Register a schema' : `Register a data source of ${schema.name}`}
      action="Register"
      pending={isPending}
      error={error}
      onSubmit={mutate}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description={`Name for people, such as ${schema === undefined ? 'Sales' : 'Warehouse EU'}.`}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldMessage(error, '/name')}
        required
        data-autofocus
        autoComplete="off"
      />
      <TextInput
        label="Provided id"
        description={`Id in mappings, such as ${schema === undefined ? 'sales' : 'warehouse-eu'}. Use the same id in Testing and Customer, so that mappings can be promoted.`}
        value={providedId}
        onChange={(event) => setProvidedId(event.currentTarget.value)}
        error={fieldMessage(error, '/provided_id')}
        required
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
      />
    </FormDialog>
  )
}

const faultsOf = (noun: string) => ({
  already_exists: {
    path: '/provided_id',
    message: `another ${noun} has this provided id; choose another one`,
  },
  in_use: {
    path: '/provided_id',
    message: `user groups are mapped to the ${noun} whose id is the same text; choose another one`,
  },
})
