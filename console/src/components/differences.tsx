import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import type { Difference } from '../api/wire.ts'
import { CustomerText } from './customer-text.tsx'
import { columnsOf, DataTable } from './data-table.tsx'
import { stepsOf } from './diff.ts'
import classes from './differences.module.css'

const columns = columnsOf<Difference>((column) => [
  column.accessor('path', { header: 'Where', cell: ({ getValue }) => <Path pointer={getValue()} /> }),
  column.accessor('before', {
    header: 'Before',
    cell: ({ getValue }) => <Side value={getValue()} className={classes.before} />,
  }),
  column.accessor('after', {
    header: 'After',
    cell: ({ getValue }) => <Side value={getValue()} className={classes.after} />,
  }),
])

interface Props {
  /** Accessible name of the list. */
  readonly label: string
  readonly differences: readonly Difference[]
}

/** Lists the differences by place. */
export function Differences({ label, differences }: Props) {
  if (differences.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing is different.
      </Text>
    )
  }
  return <DataTable label={label} columns={columns} rows={differences} rowId={({ path }) => path} />
}

const shortCount = 3

/** Shows the first differences in one line each, and all on request. */
export function ShortDifferences({ label, differences }: Props) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole) return <Differences label={label} differences={differences} />
  return (
    <>
      <ul aria-label={label} className={classes.short}>
        {differences.slice(0, shortCount).map(({ path, before, after }) => (
          <li key={path}>
            <Path pointer={path} />: <Side value={before} className={classes.before} /> →{' '}
            <Side value={after} className={classes.after} />
          </li>
        ))}
      </ul>
      <Button variant="subtle" size="compact-xs" px={0} onClick={() => setWhole(true)}>
        {differences.length > shortCount ? `All ${differences.length} differences` : 'Whole values'}
      </Button>
    </>
  )
}

function Path({ pointer }: { readonly pointer: string }) {
  const [first = '', ...rest] = stepsOf(pointer)
  return (
    <Text span inherit>
      {first.charAt(0).toUpperCase() + first.slice(1)}
      {rest.map((step, i) => (
        <span key={i}>
          {' › '}
          <CustomerText>{step}</CustomerText>
        </span>
      ))}
    </Text>
  )
}

function Side({ value, className }: { readonly value: unknown; readonly className: string | undefined }) {
  if (value === undefined || value === null) {
    return (
      <Text span inherit c="dimmed">
        nothing
      </Text>
    )
  }
  return (
    <code className={className}>
      <CustomerText>{typeof value === 'string' ? value : JSON.stringify(value)}</CustomerText>
    </code>
  )
}
