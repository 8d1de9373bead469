import { List, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { requestAdmin } from '../../api/request.ts'
import type { ListedUserGroup } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { countOf } from '../../components/counts.tsx'

export const bulkActions = {
  suspend: {
    label: 'Suspend',
    done: 'Suspended',
    method: 'POST',
    path: '/suspend',
    text: 'Their tokens become inactive at once, and their embedded dashboards stop. You can resume them.',
  },
  resume: {
    label: 'Resume',
    done: 'Resumed',
    method: 'POST',
    path: '/resume',
    text: 'Their current tokens work again at once.',
  },
  delete: {
    label: 'Delete',
    done: 'Deleted',
    method: 'DELETE',
    path: '',
    text: 'Their tokens and embedded dashboards stop at once. For 30 days you can restore each, unless its id is taken.',
  },
} as const

export type BulkAction = keyof typeof bulkActions

interface Refusal {
  readonly userGroup: ListedUserGroup
  readonly message: string
}

interface Props {
  readonly action: BulkAction
  readonly userGroups: readonly ListedUserGroup[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks, then changes one user group after another. A refused one does not stop the others. */
export function BulkDialog({ action, userGroups: shown, onDone, onClose }: Props) {
  const { label, done, text } = bulkActions[action]
  // The list changes while the action runs.
  const [userGroups] = useState(shown)
  const [count, setCount] = useState(0)
  const queryClient = useQueryClient()
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => changeEach(action, userGroups, setCount),
    onSuccess: (refusals) => {
      notifications.show({
        title: done,
        message: `${userGroups.length - refusals.length} of ${countOf(userGroups.length, 'user group')}`,
      })
      onDone()
      if (refusals.length === 0) onClose()
    },
    onSettled: () =>
      Promise.all(
        [['user-groups'], ['user-group']].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
      ),
  })
  return (
    <ConfirmDialog
      opened
      title={`${label} ${countOf(userGroups.length, 'user group')}?`}
      action={isPending ? `${label} (${count} done)` : label}
      destructive={action !== 'resume'}
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      {data !== undefined && <Refusals refusals={data} />}
    </ConfirmDialog>
  )
}

function Refusals({ refusals }: { readonly refusals: readonly Refusal[] }) {
  return (
    <div role="alert">
      <Text size="sm" fw={600}>
        {countOf(refusals.length, 'user group')} could not be changed:
      </Text>
      <List size="sm">
        {refusals.map(({ userGroup: { team_id, name }, message }) => (
          <List.Item key={team_id}>
            {name}: {message}
          </List.Item>
        ))}
      </List>
    </div>
  )
}

/** Returns the refusals. Stops at an error that would refuse all others too. */
async function changeEach(
  action: BulkAction,
  userGroups: readonly ListedUserGroup[],
  onProgress: (count: number) => void,
): Promise<readonly Refusal[]> {
  const { method, path } = bulkActions[action]
  const refusals: Refusal[] = []
  for (const [i, userGroup] of userGroups.entries()) {
    try {
      await requestAdmin(method, `/user-groups/${userGroup.team_id}${path}`)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'user_group_not_found') throw error
      refusals.push({ userGroup, message: error.message })
    }
    onProgress(i + 1)
  }
  return refusals
}
