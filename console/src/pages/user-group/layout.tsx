import { Button, Group, Menu, Stack, Text } from '@mantine/core'
import {
  IconDots,
  IconDoorExit,
  IconEye,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconTrash,
} from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import { viewQuery, type Viewed } from '../../api/user-groups.ts'
import type { UserGroup } from '../../api/wire.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { CustomerText } from '../../components/customer-text.tsx'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { LoadingState, NotShownState } from '../../components/states.tsx'
import { UserGroupState } from '../../components/user-group-state.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { ActivitySection } from './activity-section.tsx'
import { DeleteDialog, ResumeDialog, SuspendDialog } from './state-dialogs.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { EndSessionsDialog, ViewAsDialog } from './session-dialogs.tsx'
import { UserGroupTabs } from './tabs.tsx'
import { useTeamId } from './use-user-group.ts'

export function UserGroupLayout() {
  const teamId = useTeamId()
  const { data: viewed, error, refetch } = useQuery(viewQuery(teamId))
  return (
    <>
      {/* One for all states, so that the focus stays on it. */}
      <PageHeader
        title={viewed?.user_group.name ?? 'User group'}
        description={viewed && <Description userGroup={viewed.user_group} />}
        actions={
          viewed && (
            // All of them need the same scope.
            <Allowed to="rotateTokenOfUserGroup">
              <Actions key={teamId} viewed={viewed} />
            </Allowed>
          )
        }
      />
      {viewed !== undefined ? (
        <Fragment key={teamId}>
          <UserGroupTabs />
          <Outlet />
        </Fragment>
      ) : error !== null ? (
        <Stack gap="md">
          <NotShownState error={error} name="user group" onRetry={() => void refetch()}>
            It may have been deleted: look at the{' '}
            <TextLink to="/user-groups/deleted" size="sm" underline="always">
              deleted user groups
            </TextLink>
            . Or it belongs to the other environment.
          </NotShownState>
          <ActivitySection teamId={teamId} viewed={undefined} />
        </Stack>
      ) : (
        <LoadingState lines={9} label="Loading the user group" />
      )}
    </>
  )
}

function Description({ userGroup }: { readonly userGroup: UserGroup }) {
  return (
    <Group gap="xs">
      <UserGroupState userGroup={userGroup} />
      <Group gap={2} wrap="nowrap" miw={0}>
        <Text span size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          <CustomerText>{userGroup.provided_id}</CustomerText>
        </Text>
        <CopyButton value={userGroup.provided_id} label="Copy the id" size="sm" />
      </Group>
    </Group>
  )
}

const dialogs = {
  rotate: RotateDialog,
  suspend: SuspendDialog,
  resume: ResumeDialog,
  delete: DeleteDialog,
  endSessions: EndSessionsDialog,
  viewAs: ViewAsDialog,
}

function Actions({ viewed }: { readonly viewed: Viewed }) {
  const [open, setOpen] = useState<keyof typeof dialogs>()
  const isSuspended = viewed.user_group.suspended_at !== null
  const Dialog = open && dialogs[open]
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        onClick={() => setOpen('rotate')}
      >
        Rotate token
      </Button>
      <Menu position="bottom-end" returnFocus>
        <Menu.Target>
          <Button variant="default" leftSection={<IconDots size={16} aria-hidden />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconEye size={16} aria-hidden />} onClick={() => setOpen('viewAs')}>
            View as this customer
          </Menu.Item>
          <Menu.Item
            leftSection={<IconDoorExit size={16} aria-hidden />}
            onClick={() => setOpen('endSessions')}
          >
            End sessions
          </Menu.Item>
          {isSuspended ? (
            <Menu.Item
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              onClick={() => setOpen('resume')}
            >
              Resume
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconPlayerPause size={16} aria-hidden />}
              onClick={() => setOpen('suspend')}
            >
              Suspend
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setOpen('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {Dialog && <Dialog viewed={viewed} onClose={() => setOpen(undefined)} />}
    </>
  )
}
