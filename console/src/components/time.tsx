import { Text, Tooltip, type TextProps } from '@mantine/core'
import { Fragment } from 'react'
import { ageOf } from './age.ts'

const absolute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
})
const precise = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })

interface Props extends TextProps {
  /** RFC 3339 time of the service. */
  readonly value: string
  /** `age` shows "3 hours ago". Default: date and time. */
  readonly as?: 'date' | 'age'
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

/** Shows a time in the time zone of the browser. */
export function Time({ value, as = 'date', ...props }: Props) {
  const date = new Date(value)
  return (
    <Tooltip label={precise.format(date)} withArrow events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={value} inherit {...props}>
        {as === 'age' ? ageOf(date) : absolute.format(date)}
      </Text>
    </Tooltip>
  )
}
