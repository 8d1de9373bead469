import { Group, Stack, Text } from '@mantine/core'
import type { Health, ListedUserGroup } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { IconAlertTriangle } from '../../components/icons.tsx'
import { Time } from '../../components/time.tsx'

/** Returns the problem of the mapping, or undefined. */
function mappingProblem({
  mapping_entries: all,
  unresolved_entries: unresolved,
}: Health): string | undefined {
  if (all === 0) return 'No mapping'
  if (unresolved === 0) return undefined
  if (all === 1) return 'Its mapping names no data source'
  return `${unresolved} of ${all} mappings ${unresolved === 1 ? 'names' : 'name'} no data source`
}

/** Sorts by severity: a broken mapping, then no view, then the oldest view. */
export const healthRank = ({ health }: ListedUserGroup): string =>
  health === undefined
    ? ''
    : `${mappingProblem(health) === undefined ? 1 : 0} ${health.last_introspected_at ?? ''}`

export function HealthSummary({ health }: { readonly health: Health }) {
  const problem = mappingProblem(health)
  return (
    <Stack gap={0}>
      {problem !== undefined && (
        <Group gap={6} wrap="nowrap" align="flex-start">
          <IconAlertTriangle size={16} aria-hidden color="var(--console-bad)" />
          <Text span size="sm">
            {problem}
          </Text>
        </Group>
      )}
      <Text span size="xs" c="dimmed">
        {health.last_introspected_at === null ? (
          'Never viewed'
        ) : (
          <>
            Viewed <Time value={health.last_introspected_at} as="age" />
          </>
        )}
      </Text>
    </Stack>
  )
}

/** Counts the problems of the shown user groups. There is no count of all that would be cheap. */
export function HealthCounts({ userGroups }: { readonly userGroups: readonly ListedUserGroup[] }) {
  const count = (isCounted: (health: Health) => boolean) =>
    userGroups.filter(({ health }) => health !== undefined && isCounted(health)).length
  const suspended = userGroups.filter(({ suspended_at }) => suspended_at !== null).length
  const counts = [
    [count(({ mapping_entries }) => mapping_entries === 0), 'without a mapping'],
    [count(({ unresolved_entries }) => unresolved_entries > 0), 'with a mapping that names no data source'],
    [count(({ last_introspected_at }) => last_introspected_at === null), 'never viewed'],
    [suspended, 'suspended'],
  ] as const
  const shown = counts.filter(([number]) => number > 0)
  if (shown.length === 0) return null
  return (
    <Text size="sm" c="dimmed" pb="xs">
      Of the {countOf(userGroups.length, 'user group')} shown:{' '}
      {shown.map(([number, label]) => `${number} ${label}`).join(', ')}.
    </Text>
  )
}
