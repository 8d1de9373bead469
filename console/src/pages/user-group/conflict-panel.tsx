import { Button, Group, Stack, Text } from '@mantine/core'
import type { UserGroup } from '../../api/wire.ts'
import { Author } from '../../components/author.tsx'
import { differencesOf } from '../../components/diff.ts'
import { Differences } from '../../components/differences.tsx'
import { Time } from '../../components/time.tsx'
import { WarningAlert } from '../../components/warning-alert.tsx'
import { useSession } from '../../session/store.ts'
import { contentOf } from './changes.ts'

interface Props {
  /** State from which the draft started. */
  readonly base: UserGroup
  /** Current state. */
  readonly latest: UserGroup
  readonly onKeep: () => void
  readonly onDiscard: () => void
}

/** Shows a concurrent change before the draft overwrites it. */
export function ConflictPanel({ base, latest, onKeep, onDiscard }: Props) {
  const { api_token: own } = useSession()
  const differences = differencesOf(contentOf(base), contentOf(latest))
  return (
    <WarningAlert title="It was changed while you were editing" role="alert">
      <Stack gap="sm">
        {differences.length === 0 ? (
          <Text size="sm">
            Only its token or its state has changed, not the fields that you edit. Your changes are not saved
            yet.
          </Text>
        ) : (
          <>
            <Text size="sm">
              {latest.updated_by === `api_token:${own?.id}` ? 'You' : <Author value={latest.updated_by} />}{' '}
              saved this <Time value={latest.updated_at} as="age" />. Your changes are not saved yet.
            </Text>
            <Differences label="What was changed meanwhile" differences={differences} />
          </>
        )}
        <Group gap="xs">
          <Button size="xs" onClick={onKeep}>
            Keep my draft, on top of it
          </Button>
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard my draft
          </Button>
        </Group>
      </Stack>
    </WarningAlert>
  )
}
