import { Button, Checkbox, Group, Menu, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { adminPath } from '../../api/request.ts'
import type { ListedUserGroup } from '../../api/wire.ts'
import { countOf } from '../../components/counts.tsx'
import type { Selection } from '../../components/data-table.tsx'
import { BulkDialog, bulkActions, type BulkAction } from './bulk-dialog.tsx'

/** Maximum number of user groups in an export of some. */
const exportedAtMost = 200

interface Props {
  readonly userGroups: readonly ListedUserGroup[]
  readonly children: (selection: Selection<ListedUserGroup>) => ReactNode
}

/** Lets the user choose user groups of a list, and suspend, resume, delete or export them. */
export function BulkActions({ userGroups, children }: Props) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [action, setAction] = useState<BulkAction>()
  // Only those that are shown: a changed search hides the others.
  const selected = userGroups.filter(({ team_id }) => ids.has(String(team_id)))
  const isAll = selected.length === userGroups.length
  const toggle = (id: string) =>
    setIds((known) =>
      known.has(id) ? new Set([...known].filter((other) => other !== id)) : new Set([...known, id]),
    )
  return (
    <>
      {userGroups.length > 0 && (
        <>
          <Group gap="xs" mih={36}>
            <Checkbox
              label={
                selected.length === 0
                  ? 'Select all shown'
                  : `${countOf(selected.length, 'user group')} selected`
              }
              checked={isAll}
              indeterminate={selected.length > 0 && !isAll}
              onChange={() => setIds(new Set(isAll ? [] : userGroups.map(({ team_id }) => String(team_id))))}
            />
            {selected.length > 0 && (
              <>
                {Object.entries(bulkActions).map(([name, { label }]) => (
                  <Button
                    key={name}
                    size="xs"
                    variant="default"
                    onClick={() => setAction(name as BulkAction)}
                  >
                    {label}
                  </Button>
                ))}
                <ExportSelected selected={selected} />
              </>
            )}
          </Group>
          {children({ ids, onToggle: toggle, label: ({ name }) => `Select ${name}` })}
        </>
      )}
      {action !== undefined && (
        <BulkDialog
          action={action}
          userGroups={selected}
          onDone={() => setIds(new Set())}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}

function ExportSelected({ selected }: { readonly selected: readonly ListedUserGroup[] }) {
  if (selected.length > exportedAtMost)
    return <Text size="xs">Select at most {exportedAtMost} to export them.</Text>
  const team_ids = selected.map(({ team_id }) => team_id).join(',')
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button size="xs" variant="default">
          Export selected
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {['csv', 'ndjson'].map((format) => (
          <Menu.Item
            key={format}
            component="a"
            href={adminPath('/user-groups/export', { format, team_ids })}
            download={`user-groups.${format}`}
          >
            {format.toUpperCase()}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
