import { Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { postAdmin } from '../../api/request.ts'
import type { Wire } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/store.ts'
import type { ApiToken } from './api-token.ts'

const overlaps = [
  { seconds: 0, label: 'At once', text: 'Choose this if it leaked.' },
  { seconds: 3600, label: 'After 1 hour', text: '' },
  { seconds: 86_400, label: 'After 24 hours', text: '' },
  { seconds: 604_800, label: 'After 7 days', text: '' },
]

interface Props {
  readonly apiToken: ApiToken
  readonly onClose: () => void
}

/** Asks when the old API token stops, and shows the new one once. */
export function RotateDialog({ apiToken, onClose }: Props) {
  const [rotated, setRotated] = useState<Wire['RotatedApiTokenResponse']>()
  const queryClient = useQueryClient()
  if (rotated === undefined) return <Question apiToken={apiToken} onRotated={setRotated} onClose={onClose} />
  const { api_token: created, token, replaces } = rotated
  return (
    <ShownOnce
      title={`The API token ${apiToken.name} is replaced`}
      label="API token"
      value={token}
      onClose={() => {
        onClose()
        void queryClient.invalidateQueries({ queryKey: ['api-tokens'] })
      }}
    >
      <Text size="sm">
        The old one, with the id {replaces.id},{' '}
        {replaces.expires_at === null || replaces.expires_at <= created.created_at ? (
          'has stopped'
        ) : (
          <>
            works until <Time value={replaces.expires_at} />
          </>
        )}
        .
      </Text>
    </ShownOnce>
  )
}

interface QuestionProps extends Props {
  readonly onRotated: (rotated: Wire['RotatedApiTokenResponse']) => void
}

function Question({ apiToken: { id, name, expires_at: expiresAt }, onRotated, onClose }: QuestionProps) {
  const { api_token: own } = useSession()
  const [seconds, setSeconds] = useState(86_400)
  const [now] = useState(Date.now)
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const body = { overlap_seconds: seconds }
      // Not a mutation result, because those are cached for a while.
      onRotated(await postAdmin<Wire['RotatedApiTokenResponse']>(`/api-tokens/${id}/rotate`, { body }))
    },
  })
  const isOwn = id === own?.id
  const end = Math.min(now + seconds * 1000, expiresAt === null ? Infinity : Date.parse(expiresAt))
  return (
    <ConfirmDialog
      title={`Rotate the API token ${name}?`}
      action="Rotate the API token"
      destructive={seconds === 0}
      pending={isPending}
      error={error}
      onConfirm={mutate}
      onClose={onClose}
    >
      <Text size="sm">
        This creates another one with the same name, scopes and lifetime, which is shown only once. Both work
        until the old one expires.
      </Text>
      <OverlapField seconds={seconds} onChange={setSeconds} isOwn={isOwn} />
      <Text size="sm">
        {seconds === 0 ? (
          'Within about a second, the service refuses every program that uses the old one.'
        ) : (
          <>
            The service refuses every program that still uses the old one from{' '}
            <Time value={new Date(end).toISOString()} /> on.
          </>
        )}
      </Text>
      {isOwn && (
        <Text size="sm" fw={600}>
          You are signed in with it, and will be signed out when it stops.
        </Text>
      )}
    </ConfirmDialog>
  )
}

interface OverlapFieldProps {
  readonly seconds: number
  readonly onChange: (seconds: number) => void
  readonly isOwn: boolean
}

function OverlapField({ seconds, onChange, isOwn }: OverlapFieldProps) {
  return (
    <Radio.Group
      label="When does the old one stop?"
      value={String(seconds)}
      onChange={(value) => onChange(Number(value))}
    >
      <Stack gap="xs" mt="xs">
        {overlaps.map(({ seconds: value, label, text }) => (
          <Radio
            key={value}
            value={String(value)}
            label={label}
            // The session would end before the new token could be copied.
            disabled={isOwn && value === 0}
            description={isOwn && value === 0 ? 'Not while you are signed in with it.' : text}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}
