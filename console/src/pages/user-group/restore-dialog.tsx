import { Text } from '@mantine/core'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import type { Version } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { differencesOf } from '../../components/diff.ts'
import { Differences } from '../../components/differences.tsx'
import { Time } from '../../components/time.tsx'
import { announce } from '../../components/toast.tsx'
import { contentOf } from './changes.ts'

interface Props {
  readonly viewed: Viewed
  readonly version: Version
  readonly onClose: () => void
}

export function RestoreDialog({ viewed: { user_group: userGroup, etag }, version, onClose }: Props) {
  const { mutate, mutateAsync, isPending, error } = useChange(String(userGroup.team_id))
  const restore = () =>
    mutate(
      { method: 'POST', path: `/versions/${version.revision}/restore`, ifMatch: etag },
      {
        onSuccess: ({ etag: next }) => {
          const path = `/versions/${userGroup.revision}/restore`
          announce({
            title: 'Restored',
            undo: () => mutateAsync({ method: 'POST', path, ifMatch: next }),
          })
          onClose()
        },
      },
    )
  return (
    <ConfirmDialog
      title="Restore this version?"
      action="Restore"
      pending={isPending}
      error={error}
      onConfirm={restore}
      onClose={onClose}
    >
      <Text size="sm">
        Name, mapping and properties will be as they were from <Time value={version.updated_at} />. The token
        stays. This is what changes:
      </Text>
      <Differences
        label="What the restoring changes"
        differences={differencesOf(contentOf(userGroup), contentOf(version))}
      />
    </ConfirmDialog>
  )
}
