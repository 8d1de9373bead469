import { Button, Menu } from '@mantine/core'
import { useState } from 'react'
import { IconColumns } from './icons.tsx'

interface Props {
  /** Titles of the columns that the user may hide, by id. */
  readonly columns: Readonly<Record<string, string>>
  readonly hidden: ReadonlySet<string>
  readonly onToggle: (id: string) => void
}

/** Lets the user choose the columns of a table. */
export function ColumnMenu({ columns, hidden, onToggle }: Props) {
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconColumns size={14} aria-hidden />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(columns).map(([id, title]) => (
          <Menu.CheckboxItem key={id} checked={!hidden.has(id)} onChange={() => onToggle(id)}>
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Hidden columns of a table, which the browser remembers. */
export function useHiddenColumns(table: string, initial: readonly string[]) {
  const key = `console-columns-${table}`
  const [hidden, setHidden] = useState<ReadonlySet<string>>(
    () => new Set(localStorage.getItem(key)?.split(',') ?? initial),
  )
  const toggle = (id: string) => {
    const next = new Set(hidden)
    if (!next.delete(id)) next.add(id)
    localStorage.setItem(key, [...next].join(','))
    setHidden(next)
  }
  return { hidden, toggle }
}
