import { Button, Code, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { createRoute } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import { dataSourcesQuery, isWhole, schemasQuery } from '../../api/queries.ts'
import type { DataSource, Schema } from '../../api/registry.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { rootRoute } from '../../root-route.tsx'
import { Dialog, type DialogState } from './dialog.tsx'
import { SchemaSection } from './schema-section.tsx'

interface Search {
  /** What another page leads here to register: a schema, or where `data_source` is there that. */
  readonly schema?: string
  readonly data_source?: string
}

export const dataSourcesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/data-sources',
  component: DataSourcesPage,
  validateSearch: ({ schema, data_source }: Record<string, unknown>): Search => ({
    ...(typeof schema === 'string' && { schema }),
    ...(typeof data_source === 'string' && { data_source }),
  }),
})

/** Few enough to be looked at without looking for them. */
const manageable = 12

function DataSourcesPage() {
  const schemas = useQuery(schemasQuery)
  const dataSources = useQuery(dataSourcesQuery)
  const { dialog, open, close } = useDialog(schemas.data)
  const failed = [schemas, dataSources].find(({ isError }) => isError)
  return (
    <>
      <PageHeader
        title="Data sources"
        description="A schema is what dashboards are built on; its data sources are where its data is. The mapping of a user group names a data source for each schema."
        actions={
          <Button
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => open({ kind: 'register_schema' })}
          >
            Register a schema
          </Button>
        }
      />
      {failed !== undefined ? (
        <ErrorState
          error={failed.error}
          title="The data sources cannot be listed"
          onRetry={() => void Promise.all([schemas.refetch(), dataSources.refetch()])}
        />
      ) : schemas.data === undefined || dataSources.data === undefined ? (
        <LoadingState lines={8} label="Loading data sources" />
      ) : (
        <Registered schemas={schemas.data} dataSources={dataSources.data} open={open} />
      )}
      {dialog !== undefined && <Dialog state={dialog} onClose={close} />}
    </>
  )
}

/** What is open at first may be asked for by the address; afterwards that is forgotten. */
function useDialog(schemas: readonly Schema[] | undefined) {
  const asked = dataSourcesRoute.useSearch()
  const navigate = dataSourcesRoute.useNavigate()
  const [opened, setOpened] = useState<DialogState>()
  const known = schemas?.find(
    ({ provided_id, id }) => provided_id === asked.schema || String(id) === asked.schema,
  )
  const isAsked = schemas !== undefined && asked.schema !== undefined
  const fromAddress: DialogState | undefined = !isAsked
    ? undefined
    : known !== undefined
      ? { kind: 'register_data_source', schema: known, providedId: asked.data_source }
      : { kind: 'register_schema', providedId: asked.schema }
  return {
    dialog: opened ?? fromAddress,
    open: setOpened,
    close: () => {
      setOpened(undefined)
      if (isAsked) void navigate({ search: {}, replace: true })
    },
  }
}

interface RegisteredProps {
  readonly schemas: readonly Schema[]
  readonly dataSources: readonly DataSource[]
  readonly open: (dialog: DialogState) => void
}

function Registered({ schemas, dataSources, open }: RegisteredProps) {
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text.trim().toLowerCase())
  const bySchema = useMemo(() => groupedBySchema(dataSources), [dataSources])
  if (schemas.length === 0) {
    return (
      <EmptyState
        title="No schema is registered"
        action={
          <Button variant="light" onClick={() => open({ kind: 'register_schema' })}>
            Register the first schema
          </Button>
        }
      >
        Without any, mappings are passed on as they are written. Once you register schemas and data sources,
        this console tells which mappings name nothing, and who shares a data source.
      </EmptyState>
    )
  }
  const matches = ({ name, provided_id }: Schema | DataSource) =>
    name.toLowerCase().includes(wanted) || provided_id.toLowerCase().includes(wanted)
  const shown = schemas.flatMap((schema) => {
    const ofSchema = bySchema.get(schema.id) ?? []
    const matching = matches(schema) ? ofSchema : ofSchema.filter(matches)
    return matches(schema) || matching.length > 0 ? [{ schema, matching, total: ofSchema.length }] : []
  })
  return (
    <Stack gap="md">
      {schemas.length + dataSources.length > manageable && (
        <TextInput
          aria-label="Find a schema or a data source"
          placeholder="Find by name or provided id"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maw={420}
          spellCheck={false}
          autoComplete="off"
        />
      )}
      {!isWhole(dataSources) && (
        <Text size="sm">
          These are the first {dataSources.length} data sources. <Code>ugs data-source list</Code> lists all
          of them.
        </Text>
      )}
      {shown.map(({ schema, matching, total }) => (
        <SchemaSection key={schema.id} schema={schema} dataSources={matching} total={total} open={open} />
      ))}
      {shown.length === 0 && (
        <EmptyState
          title="Nothing matches"
          action={
            <Button variant="default" size="xs" onClick={() => setText('')}>
              Show all
            </Button>
          }
        />
      )}
    </Stack>
  )
}

function groupedBySchema(dataSources: readonly DataSource[]): ReadonlyMap<number, readonly DataSource[]> {
  const groups = new Map<number, DataSource[]>()
  for (const dataSource of dataSources) {
    const group = groups.get(dataSource.schema_id)
    if (group === undefined) groups.set(dataSource.schema_id, [dataSource])
    else group.push(dataSource)
  }
  return groups
}
