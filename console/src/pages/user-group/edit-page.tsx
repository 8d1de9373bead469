import { Alert, Stack, Text } from '@mantine/core'
import { IconInfoCircle } from '../../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ErrorAlert } from '../../components/states.tsx'
import { announce } from '../../components/toast.tsx'
import { ConflictPanel } from './conflict-panel.tsx'
import { assertSendable, isChanged, patchOf, rebased } from './draft.ts'
import { EditForm } from './edit-form.tsx'
import { useDraft, type Base } from './use-draft.ts'
import { useTeamId, useViewed } from './use-user-group.ts'

export function EditPage() {
  const viewed = useViewed()
  const teamId = useTeamId()
  const navigate = useNavigate()
  const { base, draft, isResumed, change, startFrom } = useDraft(viewed)
  const { mutateAsync } = useChange(teamId)
  const isSaved = useRef(false)
  const leave = () => navigate({ to: '/user-groups/$teamId', params: { teamId } })
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async () => {
      assertSendable(draft)
      return mutateAsync({ method: 'PATCH', body: patchOf(draft, base.user_group), ifMatch: base.etag })
    },
    onSuccess: async ({ etag }) => {
      isSaved.current = true
      await leave()
      const path = `/versions/${base.user_group.revision}/restore`
      announce({
        title: 'Saved',
        message: 'The next dashboard that is opened has it.',
        undo: () => mutateAsync({ method: 'POST', path, ifMatch: etag }),
      })
    },
  })
  const isDirty = isChanged(draft, base.user_group)
  const goOnWith = (latest: Viewed, keepsDraft: boolean) => {
    startFrom(latest, keepsDraft ? rebased(draft, base.user_group, latest.user_group) : undefined)
    reset()
  }
  return (
    <Stack gap="md">
      {isResumed && isDirty && <ResumedDraftAlert />}
      <EditForm
        draft={draft}
        onChange={change}
        error={error}
        problem={
          error instanceof ApiError && error.code === 'revision_mismatch' ? (
            <Conflict error={error} base={base} latest={viewed} onGoOn={goOnWith} />
          ) : undefined
        }
        isDisabled={!isDirty}
        pending={isPending}
        onSubmit={mutate}
        onCancel={() => void leave()}
      />
      <LeaveGuard isActive={() => isDirty && !isSaved.current} />
    </Stack>
  )
}

interface ConflictProps {
  readonly error: ApiError
  readonly base: Base
  readonly latest: Viewed
  readonly onGoOn: (latest: Viewed, keepsDraft: boolean) => void
}

function Conflict({ error, base, latest, onGoOn }: ConflictProps) {
  if (latest.etag === base.etag)
    return (
      <ErrorAlert error={error} title="It was changed while you were editing">
        <Text size="sm">The changes could not be loaded. Save again to load them.</Text>
      </ErrorAlert>
    )
  return (
    <ConflictPanel
      base={base.user_group}
      latest={latest.user_group}
      onKeep={() => onGoOn(latest, true)}
      onDiscard={() => onGoOn(latest, false)}
    />
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
      title="Leave without saving?"
      action="Leave"
      destructive
      onConfirm={blocker.proceed}
      onClose={blocker.reset}
    >
      Your changes will be lost.
    </ConfirmDialog>
  )
}
