import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { assignTo } from '../../api/errors.ts'
import { fieldMessage } from '../../api/field-message.ts'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { announce } from '../../components/toast.tsx'
import { assertSendable, creationOf, draftOf, type Draft } from './draft.ts'
import { EditForm } from './edit-form.tsx'

const faults = {
  already_exists: { path: '/user_group_id', message: 'another user group has this id' },
}

export function NewUserGroupPage() {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [id, setId] = useState('')
  const [draft, setDraft] = useState(() => draftOf({ name: '', mapping: null, properties: null }))
  const change = useCallback((changes: Partial<Draft>) => setDraft((known) => ({ ...known, ...changes })), [])
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      assertSendable(draft)
      const body = creationOf(id, draft)
      return postAdmin<Wire['UserGroupResponse']>('/user-groups', { body }).catch(assignTo(faults))
    },
    onSuccess: async ({ user_group: { team_id, name } }) => {
      void queryClient.invalidateQueries({ queryKey: ['user-groups'] })
      await navigate({ to: '/user-groups/$teamId', params: { teamId: String(team_id) }, replace: true })
      announce({ title: 'Created', message: name })
    },
  })
  return (
    <>
      <PageHeader
        title="Create a user group"
        description="Usually your backend creates one with its first request for a customer. It gets the token of this one in the same way."
      />
      <EditForm
        draft={draft}
        onChange={change}
        error={error}
        pending={isPending}
        action="Create"
        onSubmit={mutate}
        onCancel={() => void navigate({ to: '/user-groups' })}
      >
        <Section title="Id" description="Your own id of the customer. It cannot be changed later.">
          <TextInput
            aria-label="Id"
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
            error={fieldMessage(error, '/user_group_id')}
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
