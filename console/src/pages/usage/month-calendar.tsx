import { VisuallyHidden } from '@mantine/core'
import { countOf, numberText } from '../../components/counts.tsx'
import classes from './month-calendar.module.css'

interface CalendarDay {
  /** "2026-11-28", in UTC. */
  readonly day: string
  /** 0 if nobody looked. */
  readonly count: number
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const dateFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' })

interface Props {
  /** Accessible name. */
  readonly label: string
  /** The days of a month until today, from the first. */
  readonly days: readonly CalendarDay[]
  /** Noun for one of the counted. Undefined if a day only has a mark. */
  readonly noun: string | undefined
}

/** Shows the days of a month. A higher count has a stronger color. */
export function MonthCalendar({ label, days, noun }: Props) {
  const highest = Math.max(1, ...days.map(({ count }) => count))
  return (
    <table className={classes.calendar} aria-label={label}>
      <thead>
        <tr>
          {weekdays.map((weekday) => (
            <th key={weekday} scope="col">
              {weekday}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(days).map((week, i) => (
          <tr key={i}>
            {week.map((day, weekday) =>
              day === undefined ? (
                <td key={weekday} />
              ) : (
                <td
                  key={weekday}
                  className={classes.day}
                  data-level={day.count === 0 ? undefined : Math.ceil((3 * day.count) / highest)}
                >
                  <span className={classes.date} aria-hidden>
                    {Number(day.day.slice(-2))}
                  </span>
                  {day.count > 0 && (
                    <span className={classes.count} aria-hidden>
                      {noun === undefined ? '●' : numberText(day.count)}
                    </span>
                  )}
                  <VisuallyHidden>
                    {dateFormat.format(new Date(day.day))}:{' '}
                    {day.count === 0 ? 'none' : noun === undefined ? 'viewed' : countOf(day.count, noun)}
                  </VisuallyHidden>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Returns rows of seven days that start on Monday. */
function weeksOf(days: readonly CalendarDay[]): (CalendarDay | undefined)[][] {
  const [first] = days
  if (first === undefined) return []
  const offset = (new Date(first.day).getUTCDay() + 6) % 7
  const count = Math.ceil((offset + days.length) / 7)
  return Array.from({ length: count }, (_, week) =>
    weekdays.map((_, weekday) => days[week * 7 + weekday - offset]),
  )
}
