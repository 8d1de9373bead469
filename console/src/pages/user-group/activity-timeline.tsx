import { Badge, Button, Text } from '@mantine/core'
import { useState } from 'react'
import type { UsageDay } from '../../api/usage.ts'
import type { Viewed } from '../../api/user-groups.ts'
import type { Version } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import { visibleText } from '../../components/customer-text.tsx'
import { ShortDifferences } from '../../components/differences.tsx'
import { IconArrowBackUp, IconEye, IconPencil } from '../../components/icons.tsx'
import { Time } from '../../components/time.tsx'
import { Timeline, type TimelineEvent } from '../../components/timeline.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { lookOf } from '../audit/action-icons.ts'
import { actionLabels, type AuditEvent } from '../audit/search.ts'
import type { Entry } from './activity.ts'
import { changedText, summaryOf, type Change } from './changes.ts'
import { RestoreDialog } from './restore-dialog.tsx'

interface Props {
  readonly entries: readonly Entry[]
  /** Undefined if the user group is deleted. */
  readonly viewed: Viewed | undefined
}

/** Shows what happened to a user group, and restores earlier versions of it. */
export function ActivityTimeline({ entries, viewed }: Props) {
  const [restored, setRestored] = useState<Version>()
  return (
    <>
      <Timeline
        label="Activity"
        events={entries.map((entry) => timelineEventOf(entry, viewed, setRestored))}
      />
      {viewed !== undefined && restored !== undefined && (
        <RestoreDialog viewed={viewed} version={restored} onClose={() => setRestored(undefined)} />
      )}
    </>
  )
}

function timelineEventOf(
  { at, event, change, views }: Entry,
  viewed: Viewed | undefined,
  onRestore: (version: Version) => void,
): TimelineEvent {
  if (views !== undefined)
    return { id: views.day, at: views.day, Icon: IconEye, title: viewsText(views), tone: 'quiet' }
  const ofChange = change !== undefined && {
    children: <ChangeDetails change={change} />,
    actions: (
      <Allowed to="restoreUserGroupVersion">
        <RestoreButton change={change} onRestore={onRestore} />
      </Allowed>
    ),
  }
  if (event === undefined)
    return {
      id: at,
      at,
      Icon: IconPencil,
      title: change === undefined ? '' : summaryOf(change, viewed?.user_group.created_at ?? ''),
      author: change?.state.updated_by ?? null,
      ...ofChange,
    }
  return {
    id: event.event_id,
    at,
    ...lookOf(event.action),
    title: titleOf(event),
    author: event.author,
    children: <EventDetails event={event} viewed={viewed} />,
    ...ofChange,
  }
}

/** Without known viewers, only that someone looked. */
const viewsText = ({ viewers }: UsageDay): string =>
  viewers === 0 ? 'Viewed' : `Viewed by ${countOf(viewers, 'viewer')}`

function titleOf({ action, details }: AuditEvent): string {
  switch (action) {
    case 'user_group.updated':
      return Array.isArray(details?.changed_fields)
        ? changedText(details.changed_fields as string[])
        : 'Changed'
    case 'user_group.sessions_ended':
      return typeof details?.viewer_id === 'string'
        ? `Sessions of ${visibleText(details.viewer_id)} ended`
        : 'Sessions of all viewers ended'
    case 'user_group.grace_period_ended':
      return 'Grace period ended early: the old token was reported as leaked'
    default: {
      const label = actionLabels[action].replace(/^User group /, '')
      return label.charAt(0).toUpperCase() + label.slice(1)
    }
  }
}

function ChangeDetails({ change: { differences } }: { readonly change: Change }) {
  return differences.length > 0 && <ShortDifferences label="What was different" differences={differences} />
}

interface EventProps {
  readonly event: AuditEvent
  readonly viewed: Viewed | undefined
}

/** Says whether the effect of an event lasts. */
function EventDetails({ event: { action, occurred_at: at, details }, viewed }: EventProps) {
  if (action === 'user_group.suspended' && viewed?.user_group.suspended_at === at)
    return (
      <div>
        <Badge color="#a63a00">Still suspended</Badge>
      </div>
    )
  const seconds = details?.grace_period_seconds
  if (action !== 'user_group.token_rotated' || typeof seconds !== 'number') return null
  if (seconds === 0) return <Text size="xs">The old token stopped at once.</Text>
  const running = viewed?.token.grace_periods.find(({ superseded_at }) => superseded_at === at)
  return running === undefined ? (
    <Text size="xs">
      The old token had a grace period until <Time value={endOf(at, seconds)} />.
    </Text>
  ) : (
    <Text size="xs">
      <Badge color="#a63a00" mr={6}>
        Grace period
      </Badge>
      The old token works until <Time value={running.valid_until} />, which is{' '}
      <Time value={running.valid_until} as="age" />.
    </Text>
  )
}

const endOf = (start: string, seconds: number): string =>
  new Date(Date.parse(start) + seconds * 1000).toISOString()

interface RestoreProps {
  readonly change: Change
  readonly onRestore: (version: Version) => void
}

/** Undoes the last change, or restores the state after an earlier one. */
function RestoreButton({ change: { state, revision, previous }, onRestore }: RestoreProps) {
  const version = revision === undefined ? previous : { ...state, revision }
  if (version === undefined) return null
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconArrowBackUp size={14} aria-hidden />}
      onClick={() => onRestore(version)}
      {...(revision !== undefined && { 'aria-label': `Restore this version, revision ${revision}` })}
    >
      {revision === undefined ? 'Undo' : 'Restore'}
    </Button>
  )
}
