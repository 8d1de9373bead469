import { ActionIcon, Group, Select } from '@mantine/core'
import { monthAfter, monthBefore, monthName, type Month } from '../../api/usage.ts'
import { IconChevronLeft, IconChevronRight } from '../../components/icons.tsx'

interface Props {
  readonly value: Month
  readonly latest: Month
  readonly earliest: Month
  readonly onChange: (month: Month) => void
}

/** Chooses a month, newest first. */
export function MonthChoice({ value, latest, earliest, onChange }: Props) {
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        variant="default"
        size={36}
        aria-label="Month before"
        disabled={value <= earliest}
        onClick={() => onChange(monthBefore(value))}
      >
        <IconChevronLeft size={16} aria-hidden />
      </ActionIcon>
      <Select
        aria-label="Month"
        w={190}
        allowDeselect={false}
        value={value}
        data={monthsBetween(latest, earliest).map((month) => ({ value: month, label: monthName(month) }))}
        onChange={(month) => month !== null && onChange(month)}
      />
      <ActionIcon
        variant="default"
        size={36}
        aria-label="Month after"
        disabled={value >= latest}
        onClick={() => onChange(monthAfter(value))}
      >
        <IconChevronRight size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}

function monthsBetween(latest: Month, earliest: Month): Month[] {
  const months = [latest]
  for (let month = latest; month > earliest;) months.push((month = monthBefore(month)))
  return months
}
