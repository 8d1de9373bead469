import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { DataSource, Schema } from '../../api/registry.ts'
import { countOf, numberText } from '../../components/counts.tsx'
import { DataSourcesTable } from './data-sources-table.tsx'
import type { OpenDialog } from './dialog.tsx'
import { SchemaFrame, SchemaSection } from './schema-section.tsx'

/** Each section loads its own data sources. */
const pageSchemas = 20

interface Props {
  /** Lists schemas with all their data sources, or with those found. */
  readonly entries: readonly { readonly schema: Schema; readonly found?: readonly DataSource[] }[]
  readonly open: OpenDialog
}

export function SchemaList({ entries, open }: Props) {
  const [limit, setLimit] = useState(pageSchemas)
  return (
    <>
      {entries.slice(0, limit).map(({ schema, found }) =>
        found === undefined ? (
          <SchemaSection key={schema.id} schema={schema} open={open} />
        ) : (
          <SchemaFrame
            key={schema.id}
            schema={schema}
            count={`${countOf(found.length, 'data source')} found`}
            open={open}
          >
            <DataSourcesTable schema={schema} dataSources={found} open={open} />
          </SchemaFrame>
        ),
      )}
      {entries.length > limit && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed" role="status">
            The first {limit} of {numberText(entries.length)} schemas.
          </Text>
          <Button size="xs" variant="default" onClick={() => setLimit(limit + pageSchemas)}>
            Show more
          </Button>
        </Group>
      )}
    </>
  )
}
