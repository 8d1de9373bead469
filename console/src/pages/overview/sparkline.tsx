import { VisuallyHidden } from '@mantine/core'
import { countOf } from '../../components/counts.tsx'
import classes from './sparkline.module.css'

interface Props {
  /** Accessible name. */
  readonly label: string
  /** "2026-11-28", in UTC, the oldest first. */
  readonly points: readonly { readonly day: string; readonly count: number }[]
}

const dateFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Shows counts of days as bars. */
export function Sparkline({ label, points }: Props) {
  const highest = Math.max(1, ...points.map(({ count }) => count))
  const dateOf = (day: string | undefined) => day && dateFormat.format(new Date(day))
  return (
    <div>
      <ol className={classes.line} aria-label={label}>
        {points.map(({ day, count }) => {
          const text = `${dateOf(day)}: ${countOf(count, 'user group')}`
          return (
            <li
              key={day}
              className={classes.day}
              style={{ height: `${(100 * count) / highest}%` }}
              title={text}
            >
              <VisuallyHidden>{text}</VisuallyHidden>
            </li>
          )
        })}
      </ol>
      <div className={classes.ends} aria-hidden>
        <span>{dateOf(points[0]?.day)}</span>
        <span>{dateOf(points.at(-1)?.day)}</span>
      </div>
    </div>
  )
}
