import { Button, Code, Group, Text } from '@mantine/core'
import { IconPlus } from '../../components/icons.tsx'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/registry.ts'
import { countOf } from '../../components/counts.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { Section } from '../../components/section.tsx'
import { ErrorState, LoadingState } from '../../components/states.tsx'
import { Allowed } from '../../session/permissions.tsx'
import { DataSourcesTable } from './data-sources-table.tsx'
import type { OpenDialog } from './dialog.tsx'
import { useDataSourcesOf } from './use-data-sources.ts'

interface FrameProps {
  readonly schema: Schema
  /** Number of data sources, in words. */
  readonly count?: string | undefined
  readonly open: OpenDialog
  readonly children: ReactNode
}

/** A schema and its actions. */
export function SchemaFrame({ schema, count, open, children }: FrameProps) {
  return (
    <Section
      title={schema.name}
      description={
        <>
          Schema <Code>{schema.provided_id}</Code>, id {schema.id}
          {count !== undefined && `, ${count}`}
        </>
      }
      actions={
        <Group gap="xs">
          <Allowed to="createDataSource">
            <Button
              size="xs"
              variant="light"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => open({ kind: 'register_data_source', schema })}
              aria-label={`Register a data source of ${schema.name}`}
            >
              Register a data source
            </Button>
          </Allowed>
          <Allowed to="deleteSchema">
            <Button
              size="xs"
              variant="default"
              onClick={() => open({ kind: 'remove_schema', schema })}
              aria-label={`Remove the schema ${schema.name}`}
            >
              Remove
            </Button>
          </Allowed>
        </Group>
      }
    >
      {children}
    </Section>
  )
}

interface Props {
  readonly schema: Schema
  readonly open: OpenDialog
}

/** A schema with its data sources, loaded page by page. */
export function SchemaSection({ schema, open }: Props) {
  const found = useDataSourcesOf(schema)
  const { data, rows, error, isPending, isError, hasNextPage, refetch, fetchNextPage } = found
  const isPaged = hasNextPage || (data?.pages.length ?? 0) > 1
  return (
    <SchemaFrame
      schema={schema}
      count={isPending ? undefined : countText(rows.length, hasNextPage)}
      open={open}
    >
      {isPending && <LoadingState lines={3} label={`Loading the data sources of ${schema.name}`} />}
      {rows.length > 0 && <DataSourcesTable schema={schema} dataSources={rows} open={open} />}
      {isError ? (
        <ErrorState
          error={error}
          title="The data sources cannot be listed"
          onRetry={() => void (rows.length === 0 ? refetch() : fetchNextPage())}
        />
      ) : (
        !isPending &&
        rows.length === 0 && (
          <Text size="sm" c="dimmed">
            It has no data source yet, so mappings cannot name one.
          </Text>
        )
      )}
      {isPaged && <PagesFooter found={found} noun="data source" />}
    </SchemaFrame>
  )
}

function countText(count: number, isMore: boolean): string {
  if (count === 0) return 'no data sources'
  return isMore ? `more than ${countOf(count, 'data source')}` : countOf(count, 'data source')
}
