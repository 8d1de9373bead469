import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { earliestMonth, monthName, usageQuery, type Month, type MonthOfUsage } from '../../api/usage.ts'
import { Counts } from '../../components/counts.tsx'
import { MonthCalendar } from './month-calendar.tsx'
import { Section } from '../../components/section.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { MonthChoice } from './month-choice.tsx'

interface Props {
  /** Undefined for the current month. */
  readonly month: Month | undefined
  readonly onChange: (month: Month) => void
  /** Undefined for all user groups. */
  readonly userGroup?: { readonly team_id: number; readonly created_at: string }
  /** Lists of the month. */
  readonly children: (month: Month) => ReactNode
}

/** Usage of a month, of all user groups or of one. */
export function MonthUsage({ month, onChange, userGroup, children }: Props) {
  const teamId = userGroup && String(userGroup.team_id)
  const latest = useQuery(usageQuery(undefined, teamId))
  const chosen = useQuery(usageQuery(month, teamId))
  const error = latest.error ?? chosen.error
  const retry = () => void Promise.all([latest.refetch(), chosen.refetch()])
  if (error !== null) return <ErrorState error={error} title="The usage cannot be shown" onRetry={retry} />
  if (latest.data === undefined) return <LoadingState lines={9} label="Loading the usage" />
  const shown = month ?? latest.data.month
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <MonthChoice
          value={shown}
          latest={latest.data.month}
          earliest={earliestMonth(latest.data.month, userGroup?.created_at)}
          onChange={onChange}
        />
        <Text size="xs" c="dimmed">
          Days and months are in UTC. A view appears within about a minute.
        </Text>
      </Group>
      {chosen.data === undefined ? (
        <LoadingState lines={7} label="Loading the month" />
      ) : (
        <Month usage={chosen.data} isOfOne={userGroup !== undefined} />
      )}
      {children(shown)}
    </Stack>
  )
}

interface MonthProps {
  readonly usage: MonthOfUsage
  /** True if it is the usage of one user group. */
  readonly isOfOne: boolean
}

function Month({ usage: { month, days, total }, isOfOne }: MonthProps) {
  const hasViewers = total.viewers > 0
  const active = days.filter(({ user_groups }) => user_groups > 0).length
  return (
    <>
      <Counts
        counts={[
          ...(isOfOne ? [] : [{ label: 'User groups', count: total.user_groups }]),
          { label: 'Viewers', count: total.viewers },
          { label: 'Days with views', count: active },
        ]}
      />
      <Hint active={active} hasViewers={hasViewers} />
      <Section title={monthName(month)}>
        <MonthCalendar
          label={`Views in ${monthName(month)}`}
          days={days.map(({ day, user_groups, viewers }) => ({
            day,
            count: isOfOne && hasViewers ? viewers : user_groups,
          }))}
          noun={isOfOne ? (hasViewers ? 'viewer' : undefined) : 'user group'}
        />
      </Section>
    </>
  )
}

/** Says which setting may be missing. */
function Hint({ active, hasViewers }: { readonly active: number; readonly hasViewers: boolean }) {
  if (active > 0 && hasViewers) return null
  return (
    <Text size="sm" c="dimmed">
      {active === 0
        ? 'Nobody looked. With UGS_USAGE=off, the service records nothing.'
        : 'Viewers are not known. To record them, set UGS_USAGE=viewers and give each viewer a session, or let the renderer name them.'}
    </Text>
  )
}
