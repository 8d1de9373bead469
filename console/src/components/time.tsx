import { Text, Tooltip, type TextProps } from '@mantine/core'
import { ageOf } from './age.ts'

const absolute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
})
const precise = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })

interface Props extends TextProps {
  /** As the service writes it: RFC 3339. */
  readonly value: string
  /** `age` says "3 hours ago"; else it is the date and the time. */
  readonly as?: 'date' | 'age'
}

/** A time, in the time zone of the reader. */
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
