import { Text, type TextProps } from '@mantine/core'
import { Fragment } from 'react'
import { ageOf } from './age.ts'

const absolute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
})
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const precise = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })

interface Props extends TextProps {
  /** RFC 3339 time of the service. */
  readonly value: string
  /** `age` shows "3 hours ago", `clock` "14:05". Default: date and time. */
  readonly as?: 'date' | 'age' | 'clock'
}

/** Shows times, separated by commas. */
export function Times({ values }: { readonly values: readonly string[] }) {
  return values.map((value, i) => (
    <Fragment key={value}>
      {i > 0 && ', '}
      <Time value={value} />
    </Fragment>
  ))
}

/** Shows a time in the time zone of the browser. Its title is precise. */
export function Time({ value, as = 'date', ...props }: Props) {
  const date = new Date(value)
  return (
    <Text component="time" dateTime={value} title={precise.format(date)} inherit {...props}>
      {as === 'age' ? ageOf(date) : (as === 'clock' ? clock : absolute).format(date)}
    </Text>
  )
}
