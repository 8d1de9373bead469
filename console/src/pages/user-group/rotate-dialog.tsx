import { Checkbox, Radio, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'

const gracePeriods = [
  { seconds: 0, label: 'At once', text: 'Choose this if the token leaked.' },
  { seconds: 600, label: 'After 10 minutes', text: '' },
  { seconds: 3600, label: 'After an hour', text: '' },
  { seconds: 86_400, label: 'After a day', text: '' },
  { seconds: 604_800, label: 'After 7 days', text: '' },
]

function announce(seconds: number): void {
  notifications.show({
    title: 'The token is replaced',
    message:
      seconds === 0
        ? 'The old one has stopped. Your backend gets the new one with its next request.'
        : 'The old one stops at the end of its grace period. Your backend gets the new one with its next request.',
  })
}

interface Props {
  readonly viewed: Viewed
  readonly onClose: () => void
}

export function RotateDialog({ viewed: { user_group: userGroup, etag }, onClose }: Props) {
  const [seconds, setSeconds] = useState(0)
  const [endsSessions, setEndsSessions] = useState(false)
  const { mutate, isPending, error } = useChange(String(userGroup.team_id))
  const onSuccess = () => {
    announce(seconds)
    onClose()
  }
  const rotate = () =>
    mutate(
      { method: 'POST', path: '/rotate', body: { grace_period_seconds: seconds }, ifMatch: etag },
      {
        onSuccess: () => {
          if (!endsSessions) onSuccess()
          else mutate({ method: 'POST', path: '/end-sessions', body: {} }, { onSuccess })
        },
      },
    )
  return (
    <ConfirmDialog
      opened
      title={`Rotate the token of ${userGroup.name}?`}
      action="Rotate the token"
      destructive
      pending={isPending}
      error={error}
      onConfirm={rotate}
      onClose={onClose}
    >
      <Radio.Group
        label="When does the old token stop?"
        value={String(seconds)}
        onChange={(value) => setSeconds(Number(value))}
      >
        <Stack gap="xs" mt="xs">
          {gracePeriods.map(({ seconds: value, label, text }) => (
            <Radio key={value} value={String(value)} label={label} description={text} />
          ))}
        </Stack>
      </Radio.Group>
      <Text size="sm">
        {seconds === 0
          ? 'Every embedded dashboard that was opened with the old token stops at once and must be reloaded.'
          : 'Embedded dashboards that were opened with the old token work until then. After that they must be reloaded.'}{' '}
        The page of this customer needs the new token: your backend gets it with its next GET /api/user
        request.
      </Text>
      <Checkbox
        label="End all viewer sessions, too"
        description="A new token alone ends none."
        checked={endsSessions}
        onChange={(event) => setEndsSessions(event.currentTarget.checked)}
      />
      {userGroup.suspended_at !== null && (
        <Text size="sm">It is suspended: the new token is also inactive until you resume it.</Text>
      )}
    </ConfirmDialog>
  )
}
