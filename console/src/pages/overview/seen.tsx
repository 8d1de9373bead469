import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { monthBefore, usageQuery, type MonthOfUsage, type UsageDay } from '../../api/usage.ts'
import { Counts } from '../../components/counts.tsx'
import { Section } from '../../components/section.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { Sparkline } from './sparkline.tsx'
import type { Total } from './queries.ts'

const shownDays = 30

/** Numbers of user groups and viewers that looked, today and this month. */
export function Seen({ all }: { readonly all: Total }) {
  const current = useQuery(usageQuery(undefined))
  const month = current.data?.month
  const previous = useQuery({ ...usageQuery(month && monthBefore(month)), enabled: month !== undefined })
  return (
    <Section title="Seen">
      {current.data !== undefined ? (
        <Numbers usage={current.data} previous={previous.data?.days ?? []} all={all} />
      ) : current.error === null ? (
        <LoadingState lines={3} label="Loading the usage" />
      ) : (
        <ErrorState
          error={current.error}
          title="The usage cannot be shown"
          onRetry={() => void current.refetch()}
        />
      )}
    </Section>
  )
}

interface Props {
  readonly usage: MonthOfUsage
  readonly previous: readonly UsageDay[]
  readonly all: Total
}

function Numbers({ usage: { days, total }, previous, all }: Props) {
  const today = days.at(-1)
  const link = { to: '/usage' } as const
  const shown = [...previous, ...days].slice(-shownDays)
  return (
    <Stack gap="sm">
      <Counts
        counts={[
          {
            label: 'All user groups',
            count: all.count,
            isMinimum: !all.is_exact,
            link: { to: '/user-groups' },
          },
          { label: 'Seen today', count: today?.user_groups ?? 0, link },
          { label: 'Seen this month', count: total.user_groups, link },
          { label: 'Viewers this month', count: total.viewers, link },
        ]}
      />
      <Sparkline
        label="User groups seen by day"
        points={shown.map(({ day, user_groups }) => ({ day, count: user_groups }))}
      />
      {total.user_groups === 0 && (
        <Text size="sm" c="dimmed">
          Nobody looked this month. With UGS_USAGE=off, the service records nothing.
        </Text>
      )}
    </Stack>
  )
}
