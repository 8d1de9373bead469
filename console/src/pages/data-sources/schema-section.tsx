import { Button, Code, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import type { DataSource, Schema } from '../../api/registry.ts'
import { countOf } from '../../components/counts.tsx'
import { columnsOf, DataTable } from '../../components/data-table.tsx'
import { TextLink } from '../../components/links.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import type { DialogState } from './dialog.tsx'

const rowsAtOnce = 50

const columnsWith = (schema: Schema, open: (dialog: DialogState) => void) =>
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
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => open({ kind: 'remove_data_source', schema, dataSource: original })}
            aria-label={`Remove ${original.name}`}
          >
            Remove
          </Button>
        </Group>
      ),
    }),
  ])

interface Props {
  readonly schema: Schema
  /** Those of it that are looked for. */
  readonly dataSources: readonly DataSource[]
  /** How many it has. */
  readonly total: number
  readonly open: (dialog: DialogState) => void
}

export function SchemaSection({ schema, dataSources, total, open }: Props) {
  const columns = useMemo(() => columnsWith(schema, open), [schema, open])
  const [limit, setLimit] = useState(rowsAtOnce)
  return (
    <Section
      title={schema.name}
      description={
        <>
          Schema <Code>{schema.provided_id}</Code>, id {schema.id},{' '}
          {total === 0 ? 'no data sources' : countOf(total, 'data source')}
        </>
      }
      actions={
        <Group gap="xs">
          <Button
            size="xs"
            variant="light"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => open({ kind: 'register_data_source', schema })}
            aria-label={`Register a data source of ${schema.name}`}
          >
            Register a data source
          </Button>
          <Button
            size="xs"
            variant="default"
            onClick={() => open({ kind: 'remove_schema', schema })}
            aria-label={`Remove the schema ${schema.name}`}
          >
            Remove
          </Button>
        </Group>
      }
    >
      {total === 0 ? (
        <Text size="sm" c="dimmed">
          It has no data source yet, so that mappings cannot name any.
        </Text>
      ) : (
        <DataTable
          label={`Data sources of ${schema.name}`}
          columns={columns}
          rows={dataSources.slice(0, limit)}
          rowId={({ id }) => String(id)}
        />
      )}
      {dataSources.length > limit && (
        <Group justify="space-between" pt="sm">
          <Text size="sm" c="dimmed" role="status">
            The first {limit} of {countOf(dataSources.length, 'data source')}.
          </Text>
          <Button size="xs" variant="default" onClick={() => setLimit(limit + rowsAtOnce)}>
            Show more
          </Button>
        </Group>
      )}
    </Section>
  )
}
