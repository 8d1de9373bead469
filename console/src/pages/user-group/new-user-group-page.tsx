import { TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { creationOf, draftOf, faultsOf } from './draft.ts'
import { EditForm } from './edit-form.tsx'

export function NewUserGroupPage() {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [id, setId] = useState('')
  const [draft, setDraft] = useState(() => draftOf({ name: '', mapping: null, properties: null }))
  const [faults, setFaults] = useState<ReturnType<typeof faultsOf>>([])
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => postAdmin<Wire['UserGroupResponse']>('/user-groups', { body: creationOf(id, draft) }),
    onSuccess: async ({ user_group: { team_id, name } }) => {
      notifications.show({ title: 'Created', message: name })
      void queryClient.invalidateQueries({ queryKey: ['user-groups'] })
      await navigate({ to: '/user-groups/$teamId', params: { teamId: String(team_id) }, replace: true })
    },
  })
  const isTaken = error instanceof ApiError && error.code === 'already_exists'
  const hasFields = error instanceof ApiError && error.fields.length > 0
  const save = () => {
    const found = faultsOf(draft)
    setFaults(found)
    if (found.length === 0) mutate()
  }
  return (
    <>
      <PageHeader
        title="Create a user group"
        description="Usually your backend creates one with its first request for a customer. It gets the token of this one in the same way."
      />
      <EditForm
        draft={draft}
        onChange={(next) => {
          setDraft(next)
          setFaults([])
        }}
        faults={hasFields ? error.fields : faults}
        error={isTaken || hasFields ? null : error}
        isDirty={id !== '' && draft.name !== ''}
        isPending={isPending}
        action="Create"
        onSave={save}
        onCancel={() => void navigate({ to: '/user-groups' })}
      >
        <Section title="Id" description="Your own id of the customer. It cannot be changed later.">
          <TextInput
            aria-label="Id"
            value={id}
            onChange={(event) => {
              setId(event.currentTarget.value)
              reset()
            }}
            error={isTaken ? 'A user group has this id already.' : fieldMessage(error, '/user_group_id')}
            maw={560}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
          />
        </Section>
      </EditForm>
    </>
  )
}
