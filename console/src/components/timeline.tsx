import { VisuallyHidden } from '@mantine/core'
import type { ComponentType, ReactNode, SVGProps } from 'react'
import { Author } from './author.tsx'
import { Time } from './time.tsx'
import classes from './timeline.module.css'

export interface TimelineEvent {
  readonly id: string
  /** RFC 3339 time of the service, or a day in UTC such as "2026-11-28". */
  readonly at: string
  readonly Icon: ComponentType<SVGProps<SVGSVGElement> & { readonly size?: number }>
  readonly title: ReactNode
  /** `bad` for an event that stops dashboards, `quiet` for one of many. */
  readonly tone?: 'bad' | 'quiet'
  /** Undefined if nobody in particular did it. */
  readonly author?: string | null
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

interface Props {
  /** Accessible name of the list. */
  readonly label: string
  /** Newest first. */
  readonly events: readonly TimelineEvent[]
}

/** Lists events. Times are in the time zone of the browser. */
export function Timeline({ label, events }: Props) {
  const days = events.map(({ at }) => dayOf(at))
  return (
    <ol className={classes.events} aria-label={label}>
      {events.map((event, i) => {
        const day = days[i] ?? ''
        return (
          <Event key={event.id} event={event}>
            {day === days[i - 1] ? (
              <VisuallyHidden>{day}</VisuallyHidden>
            ) : (
              <span className={classes.day}>{day}</span>
            )}
          </Event>
        )
      })}
    </ol>
  )
}

const isDay = (at: string): boolean => at.length === 'YYYY-MM-DD'.length

/** Formats the day: "28 Nov", with the year unless it is the current one. */
function dayOf(at: string): string {
  const date = new Date(at)
  const timeZone = isDay(at) ? 'UTC' : undefined
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  return date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
    timeZone,
  })
}

interface EventProps {
  readonly event: TimelineEvent
  /** The day. */
  readonly children: ReactNode
}

function Event({ event, children: day }: EventProps) {
  const { at, Icon, title, tone, author, children, actions } = event
  return (
    <li className={classes.event} data-tone={tone}>
      {day}
      {!isDay(at) && (
        <span className={classes.time}>
          <Time value={at} as="clock" />
        </span>
      )}
      <span className={classes.icon}>
        <Icon size={16} aria-hidden />
      </span>
      <div className={classes.content}>
        <span className={classes.title}>{title}</span>{' '}
        {author !== undefined && (
          <span className={classes.author}>
            by <Author value={author} />
          </span>
        )}
        {children}
      </div>
      {actions !== undefined && <div className={classes.actions}>{actions}</div>}
    </li>
  )
}
