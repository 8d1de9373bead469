import { Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ConflictPanel } from './conflict-panel.tsx'
import { draftOf, faultsOf, isChanged, patchOf, rebased } from './draft.ts'
import { EditForm } from './edit-form.tsx'
import { useTeamId, useViewed } from './use-user-group.ts'

export function EditPage() {
  const viewed = useViewed()
  const teamId = useTeamId()
  const navigate = useNavigate()
  // What the draft was made from: a newer state must not slip in under it unseen.
  const [base, setBase] = useState(viewed)
  const [draft, setDraft] = useState(() => draftOf(viewed.user_group))
  const [faults, setFaults] = useState<ReturnType<typeof faultsOf>>([])
  const { mutate, isPending, error, reset } = useChange(teamId)
  const isConflict = error instanceof ApiError && error.code === 'revision_mismatch'
  const isDirty = isChanged(draft, base.user_group)
  const isSaved = useRef(false)
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty && !isSaved.current,
    enableBeforeUnload: () => isDirty && !isSaved.current,
    withResolver: true,
  })

  const leave = () => void navigate({ to: '/user-groups/$teamId', params: { teamId } })
  const save = () => {
    const found = faultsOf(draft)
    setFaults(found)
    if (found.length > 0) return
    mutate(
      { method: 'PATCH', body: patchOf(draft, base.user_group), ifMatch: base.etag },
      {
        onSuccess: () => {
          isSaved.current = true
          notifications.show({ title: 'Saved', message: 'The next dashboard that is opened has it.' })
          leave()
        },
      },
    )
  }
  const goOnWith = (latest: Viewed, keepsDraft: boolean) => {
    setDraft(keepsDraft ? rebased(draft, base.user_group, latest.user_group) : draftOf(latest.user_group))
    setBase(latest)
    reset()
  }
  return (
    <Stack gap="md">
      {isConflict && viewed.etag !== base.etag && (
        <ConflictPanel
          base={base.user_group}
          latest={viewed.user_group}
          onKeep={() => goOnWith(viewed, true)}
          onDiscard={() => goOnWith(viewed, false)}
        />
      )}
      <EditForm
        draft={draft}
        onChange={(next) => {
          setDraft(next)
          setFaults([])
        }}
        faults={error instanceof ApiError && error.fields.length > 0 ? error.fields : faults}
        error={isConflict ? null : error}
        isDirty={isDirty}
        isPending={isPending}
        onSave={save}
        onCancel={leave}
      />
      {blocker.status === 'blocked' && (
        <ConfirmDialog
          opened
          title="Leave without saving?"
          action="Leave"
          destructive
          pending={false}
          onConfirm={blocker.proceed}
          onClose={blocker.reset}
        >
          What you changed here will be lost.
        </ConfirmDialog>
      )}
    </Stack>
  )
}
