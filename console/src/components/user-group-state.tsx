import { Badge } from '@mantine/core'
import { IconCheck, IconPlayerPause } from './icons.tsx'
import type { UserGroup } from '../api/wire.ts'

export function UserGroupState({ userGroup }: { readonly userGroup: Pick<UserGroup, 'suspended_at'> }) {
  return userGroup.suspended_at === null ? (
    <Badge variant="light" color="teal" leftSection={<IconCheck size={12} aria-hidden />}>
      Active
    </Badge>
  ) : (
    <Badge variant="filled" color="#a63a00" leftSection={<IconPlayerPause size={12} aria-hidden />}>
      Suspended
    </Badge>
  )
}
