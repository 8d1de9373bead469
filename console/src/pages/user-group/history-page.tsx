import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconArrowBackUp } from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { versionsQuery } from '../../api/user-groups.ts'
import type { Version } from '../../api/wire.ts'
import { Author } from '../../components/author.tsx'
import { TextLink } from '../../components/links.tsx'
import { Differences } from '../../components/differences.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { changesOf, summaryOf, type Change } from './changes.ts'
import { RestoreDialog } from './restore-dialog.tsx'
import { useTeamId, useViewed } from './use-user-group.ts'

export function HistoryPage() {
  const viewed = useViewed()
  const { user_group: userGroup } = viewed
  const { data: versions, error, refetch } = useQuery(versionsQuery(useTeamId()))
  const [restored, setRestored] = useState<Version>()
  if (error !== null && versions === undefined) {
    return <ErrorState error={error} title="The history cannot be shown" onRetry={() => void refetch()} />
  }
  if (versions === undefined) return <LoadingState label="Loading the history" />
  const changes = changesOf(userGroup, versions)
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        Changes of name, mapping and properties, the newest first. All other changes are in the{' '}
        <TextLink to="/audit" search={{ user_group_id: userGroup.provided_id }} size="sm" underline="always">
          audit log
        </TextLink>
        .
      </Text>
      <Stack component="ol" gap="md" m={0} p={0} style={{ listStyle: 'none' }}>
        {changes.map((change, i) => (
          <ChangeCard
            key={change.revision ?? 'now'}
            change={change}
            summary={summaryOf(change, userGroup.created_at)}
            isLatest={i === 0}
            onRestore={setRestored}
          />
        ))}
      </Stack>
      {restored !== undefined && (
        <RestoreDialog viewed={viewed} version={restored} onClose={() => setRestored(undefined)} />
      )}
    </Stack>
  )
}

interface CardProps {
  readonly change: Change
  readonly summary: string
  readonly isLatest: boolean
  readonly onRestore: (version: Version) => void
}

function ChangeCard({ change, summary, isLatest, onRestore }: CardProps) {
  const { state, revision, previous, differences } = change
  return (
    <Paper component="li" withBorder p="md">
      <Group justify="space-between" align="flex-start" mb={previous === undefined ? 0 : 'xs'} gap="xs">
        <div>
          <Title order={2} size="h4">
            {summary}
          </Title>
          <Text size="sm" c="dimmed">
            <Time value={state.updated_at} />, by <Author value={state.updated_by} />
            {isLatest ? ' · this is how it is now' : ` · revision ${revision}`}
          </Text>
        </div>
        {isLatest && previous !== undefined && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowBackUp size={14} aria-hidden />}
            onClick={() => onRestore(previous)}
          >
            Undo this change
          </Button>
        )}
        {revision !== undefined && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowBackUp size={14} aria-hidden />}
            onClick={() => onRestore({ ...state, revision })}
            aria-label={`Restore this version, revision ${revision}`}
          >
            Restore this version
          </Button>
        )}
      </Group>
      {previous !== undefined && (
        <Differences label={`${summary}: what was different`} differences={differences} />
      )}
    </Paper>
  )
}
