import { Alert, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconInfoCircle } from '../../components/icons.tsx'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ConflictPanel } from './conflict-panel.tsx'
import { faultsOf, isChanged, patchOf, rebased } from './draft.ts'
import { EditForm } from './edit-form.tsx'
import { useDraft } from './use-draft.ts'
import { useTeamId, useViewed } from './use-user-group.ts'

export function EditPage() {
  const viewed = useViewed()
  const teamId = useTeamId()
  const navigate = useNavigate()
  const { base, draft, isResumed, change, startFrom } = useDraft(viewed)
  const [faults, setFaults] = useState<ReturnType<typeof faultsOf>>([])
  const { mutate, isPending, error, reset } = useChange(teamId)
  const isConflict = error instanceof ApiError && error.code === 'revision_mismatch'
  const isDirty = isChanged(draft, base.user_group)
  const isSaved = useRef(false)
  const wouldLoseChanges = () => isDirty && !isSaved.current

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
    startFrom(latest, keepsDraft ? rebased(draft, base.user_group, latest.user_group) : undefined)
    reset()
  }
  return (
    <Stack gap="md">
      {isResumed && isDirty && <ResumedDraftAlert />}
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
          change(next)
          setFaults([])
        }}
        faults={error instanceof ApiError && error.fields.length > 0 ? error.fields : faults}
        error={isConflict ? null : error}
        isDirty={isDirty}
        isPending={isPending}
        onSave={save}
        onCancel={leave}
      />
      <LeaveGuard isActive={wouldLoseChanges} />
    </Stack>
  )
}

function ResumedDraftAlert() {
  return (
    <Alert icon={<IconInfoCircle aria-hidden />} role="status">
      This is your draft from the time when your session ended. It is not saved yet.
    </Alert>
  )
}

/** Asks before the page is left while changes would be lost. */
function LeaveGuard({ isActive }: { readonly isActive: () => boolean }) {
  const blocker = useBlocker({ shouldBlockFn: isActive, enableBeforeUnload: isActive, withResolver: true })
  if (blocker.status !== 'blocked') return null
  return (
    <ConfirmDialog
      opened
      title="Leave without saving?"
      action="Leave"
      destructive
      pending={false}
      onConfirm={blocker.proceed}
      onClose={blocker.reset}
    >
      Your changes will be lost.
    </ConfirmDialog>
  )
}
