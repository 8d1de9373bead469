import { Button, Group, Stack, Text } from '@mantine/core'
import { IconArrowBackUp } from '../../components/icons.tsx'
import { useState } from 'react'
import type { Viewed } from '../../api/user-groups.ts'
import type { Version } from '../../api/wire.ts'
import { Author } from '../../components/author.tsx'
import { TextLink } from '../../components/links.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { changesOf, summaryOf } from './changes.ts'
import { RestoreDialog } from './restore-dialog.tsx'

const shown = 4

export function LastChanges({ viewed }: { readonly viewed: Viewed }) {
  const { user_group: userGroup, versions } = viewed
  const [undone, setUndone] = useState<Version>()
  const changes = changesOf(userGroup, versions).slice(0, shown)
  return (
    <Section
      title="Last changes"
      actions={
        <TextLink to="/user-groups/$teamId/history" params={{ teamId: String(userGroup.team_id) }} size="sm">
          History
        </TextLink>
      }
    >
      <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
        {changes.map((change, i) => (
          <Group component="li" key={change.revision ?? 'now'} justify="space-between" wrap="nowrap" gap="xs">
            <div>
              <Text size="sm" fw={600}>
                {summaryOf(change, userGroup.created_at)}
              </Text>
              <Text size="xs" c="dimmed">
                <Time value={change.state.updated_at} as="age" />, by{' '}
                <Author value={change.state.updated_by} />
              </Text>
            </div>
            {i === 0 && change.previous !== undefined && (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconArrowBackUp size={14} aria-hidden />}
                onClick={() => setUndone(change.previous)}
              >
                Undo
              </Button>
            )}
          </Group>
        ))}
      </Stack>
      {undone !== undefined && (
        <RestoreDialog viewed={viewed} version={undone} onClose={() => setUndone(undefined)} />
      )}
    </Section>
  )
}
