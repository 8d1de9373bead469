import { Button, Code, Group, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { DataSource, Schema } from '../../api/registry.ts'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { Allowed } from '../../session/permissions.tsx'
import type { OpenDialog } from './dialog.tsx'

const columnsWith = (schema: Schema, open: OpenDialog) =>
  columnsOf<DataSource>((column) => [
    column.accessor('name', {
      header: 'Name',
      cell: ({ getValue }) => (
        <Text span size="sm" fw={600}>
          {getValue()}
        </Text>
      ),
    }),
    column.accessor('provided_id', {
      header: 'Provided id',
      cell: ({ getValue }) => <Code>{getValue()}</Code>,
    }),
    column.accessor('id', { header: 'Id' }),
    column.accessor('created_at', {
      header: 'Registered',
      cell: ({ getValue }) => <Time value={getValue()} as="age" />,
    }),
    column.display({
      id: 'actions',
      header: '',
      cell: ({ row: { original } }) => (
        <Group gap="sm" justify="flex-end">
          <TextLink
            to="/user-groups"
            search={{ schema: schema.provided_id, data_source: original.provided_id }}
            size="sm"
            aria-label={`User groups of ${original.name}`}
          >
            User groups
          </TextLink>
          <Allowed to="deleteDataSource">
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => open({ kind: 'remove_data_source', schema, dataSource: original })}
              aria-label={`Remove ${original.name}`}
            >
              Remove
            </Button>
          </Allowed>
        </Group>
      ),
    }),
  ])

interface Props {
  readonly schema: Schema
  readonly dataSources: readonly DataSource[]
  readonly open: OpenDialog
}

export function DataSourcesTable({ schema, dataSources, open }: Props) {
  const columns = useMemo(() => columnsWith(schema, open), [schema, open])
  return (
    <DataTable
      label={`Data sources of ${schema.name}`}
      columns={columns}
      rows={dataSources}
      rowId={({ id }) => String(id)}
    />
  )
}
