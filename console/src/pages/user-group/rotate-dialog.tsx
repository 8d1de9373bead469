import { Checkbox, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useChange, type Viewed } from '../../api/user-groups.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { gracePeriods } from '../../components/grace-periods.ts'
import { announce } from '../../components/toast.tsx'

interface Props {
  readonly viewed: Viewed
  readonly onClose: () => void
}

export function RotateDialog({ viewed: { user_group: userGroup, etag }, onClose }: Props) {
  const [seconds, setSeconds] = useState(0)
  const [endsSessions, setEndsSessions] = useState(false)
  const { mutate, isPending, error } = useChange(String(userGroup.team_id))
  const onSuccess = () => {
    const end = seconds === 0 ? 'has stopped' : 'stops at the end of its grace period'
    const message = `The old one ${end}. Your backend gets the new one with its next request.`
    announce({ title: 'The token is replaced', message })
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
