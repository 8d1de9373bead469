import { Chip, Group, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ActionButton } from '../../components/action-button.tsx'
import { monthBefore, monthName } from '../../api/usage.ts'
import type { Viewed } from '../../api/user-groups.ts'
import { TextLink } from '../../components/links.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { ActivityTimeline } from './activity-timeline.tsx'
import { kinds, type Kind } from './activity.ts'
import { useActivity } from './use-activity.ts'

interface Props {
  readonly teamId: string
  /** Undefined if the user group is deleted. */
  readonly viewed: Viewed | undefined
}

/** Lists what happened to a user group, the newest first. */
export function ActivitySection({ teamId, viewed }: Props) {
  const { kind } = useSearch({ strict: false })
  const activity = useActivity(teamId, viewed?.user_group, kind)
  const { entries, events, isPending, error, retry } = activity
  const providedId = viewed?.user_group.provided_id ?? entries[0]?.event?.user_group?.provided_id
  // An id that no user group ever had.
  if (viewed === undefined && providedId === undefined && kind === undefined) return null
  return (
    <Section
      title="Activity"
      actions={
        <TextLink to="/audit" search={{ user_group_id: providedId ?? '' }} size="sm">
          Audit log
        </TextLink>
      }
    >
      <KindFilter kind={kind} />
      {error !== null && entries.length === 0 ? (
        <ErrorState error={error} title="The activity cannot be shown" onRetry={retry} />
      ) : isPending ? (
        <LoadingState lines={8} label="Loading the activity" />
      ) : (
        <>
          {entries.length > 0 && <ActivityTimeline entries={entries} viewed={viewed} />}
          {entries.length === 0 && !events.hasNextPage && <EmptyState title="Nothing of this kind" />}
          <PagesFooter found={events} noun="event" />
          {viewed !== undefined && (kind ?? 'views') === 'views' && <ViewsFooter activity={activity} />}
        </>
      )}
    </Section>
  )
}

function KindFilter({ kind }: { readonly kind: Kind | undefined }) {
  const navigate = useNavigate()
  return (
    <Chip.Group
      value={kind ?? ''}
      onChange={(next) =>
        void navigate({ to: '.', search: next === '' ? {} : { kind: next }, replace: true })
      }
    >
      <Group gap={6} mb="xs" role="radiogroup" aria-label="Kind of activity">
        {Object.entries({ '': 'All', ...kinds }).map(([value, label]) => (
          <Chip key={value} value={value} size="xs">
            {label}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}

/** Loads the views of earlier months. */
function ViewsFooter({ activity: { usage } }: { readonly activity: ReturnType<typeof useActivity> }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usage
  if (error !== null)
    return <ErrorState error={error} title="The views cannot be shown" onRetry={() => void refetch()} />
  const oldest = data?.pages.at(-1)?.month
  if (!hasNextPage || oldest === undefined) return null
  return (
    <Group justify="space-between" pt="xs">
      <Text size="xs" c="dimmed">
        Views before {monthName(oldest)} are not shown.
      </Text>
      <ActionButton
        size="xs"
        variant="default"
        pending={isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        Views of {monthName(monthBefore(oldest))}
      </ActionButton>
    </Group>
  )
}
