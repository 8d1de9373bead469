import { Select, TextInput } from '@mantine/core'
import { periods, type Period, type TimeRange } from './time-range.ts'

interface Props {
  readonly label: string
  readonly range: TimeRange
  readonly onChange: (range: { readonly [Name in keyof TimeRange]: TimeRange[Name] | null }) => void
}

/** Fields for a period until now, or for a first and a last day. */
export function TimeRangeFields({ label, range, onChange }: Props) {
  return (
    <>
      <Select
        flex="1 1 170px"
        label={label}
        placeholder="Any time"
        data={Object.entries(periods).map(([value, { label }]) => ({ value, label }))}
        value={range.within ?? null}
        onChange={(within) => onChange({ within: within as Period | null, from: null, to: null })}
        clearable
      />
      <DayInput label="From" value={range.from} onChange={(from) => onChange({ from, within: null })} />
      <DayInput label="To" value={range.to} onChange={(to) => onChange({ to, within: null })} />
    </>
  )
}

interface DayProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (day: string | null) => void
}

function DayInput({ label, value, onChange }: DayProps) {
  return (
    <TextInput
      flex="0 1 150px"
      type="date"
      label={label}
      value={value ?? ''}
      onChange={({ currentTarget: { value: day } }) => onChange(day === '' ? null : day)}
    />
  )
}
