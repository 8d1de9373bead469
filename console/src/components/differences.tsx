import { Text } from '@mantine/core'
import type { Difference } from '../api/wire.ts'
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

function Path({ pointer }: { readonly pointer: string }) {
  const [first = '', ...rest] = stepsOf(pointer)
  return (
    <Text span size="sm">
      {first.charAt(0).toUpperCase() + first.slice(1)}
      {rest.map((step, i) => (
        <span key={i}> › {step}</span>
      ))}
    </Text>
  )
}

function Side({ value, className }: { readonly value: unknown; readonly className: string | undefined }) {
  if (value === undefined || value === null) {
    return (
      <Text span size="sm" c="dimmed">
        nothing
      </Text>
    )
  }
  return <code className={className}>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
}
