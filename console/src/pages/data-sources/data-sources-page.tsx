import { Button, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '../../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { schemasQuery } from '../../api/queries.ts'
import type { Schema } from '../../api/registry.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import { Allowed, useMay } from '../../session/permissions.tsx'
import { Dialog, type DialogState, type OpenDialog } from './dialog.tsx'
import { SchemaList } from './schema-list.tsx'
import { SearchResults } from './search-results.tsx'

const route = getRouteApi('/data-sources')

export function DataSourcesPage() {
  const schemas = useQuery(schemasQuery)
  const { dialog, open, close } = useDialog(schemas.data)
  return (
    <>
      <PageHeader
        title="Data sources"
        description="A schema is what dashboards are built on; its data sources are where its data is. The mapping of a user group names a data source for each schema."
        actions={
          <Allowed to="createSchema">
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => open({ kind: 'register_schema' })}
            >
              Register a schema
            </Button>
          </Allowed>
        }
      />
      {schemas.isPending ? (
        <LoadingState lines={8} label="Loading data sources" />
      ) : schemas.isError ? (
        <ErrorState
          error={schemas.error}
          title="The schemas cannot be listed"
          onRetry={() => void schemas.refetch()}
        />
      ) : (
        <Registered schemas={schemas.data} open={open} />
      )}
      {dialog !== undefined && <Dialog state={dialog} onClose={close} />}
    </>
  )
}

/** The address may open a dialog initially; afterwards its parameter is dropped. */
function useDialog(schemas: readonly Schema[] | undefined) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [opened, setOpened] = useState<DialogState>()
  const may = useMay()
  const known = schemas?.find(
    ({ provided_id, id }) => provided_id === search.schema || String(id) === search.schema,
  )
  const isAsked =
    schemas !== undefined &&
    search.schema !== undefined &&
    may(known === undefined ? 'createSchema' : 'createDataSource')
  const fromAddress: DialogState | undefined = !isAsked
    ? undefined
    : known !== undefined
      ? { kind: 'register_data_source', schema: known, providedId: search.data_source }
      : { kind: 'register_schema', providedId: search.schema }
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
  readonly open: OpenDialog
}

function Registered({ schemas, open }: RegisteredProps) {
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text.trim().toLowerCase())
  if (schemas.length === 0) {
    return (
      <EmptyState
        title="No schema is registered"
        action={
          <Allowed to="createSchema">
            <Button variant="light" onClick={() => open({ kind: 'register_schema' })}>
              Register the first schema
            </Button>
          </Allowed>
        }
      >
        Without registered schemas, mappings are passed on unchanged. Once you register schemas and data
        sources, this console shows which mappings are unregistered, and which user groups share a data
        source.
      </EmptyState>
    )
  }
  return (
    <Stack gap="md">
      <TextInput
        aria-label="Find a schema or a data source"
        data-search
        placeholder="Find by name or provided id"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        maw={420}
        spellCheck={false}
        autoComplete="off"
      />
      {wanted === '' ? (
        <SchemaList entries={schemas.map((schema) => ({ schema }))} open={open} />
      ) : (
        <SearchResults wanted={wanted} schemas={schemas} open={open} onShowAll={() => setText('')} />
      )}
    </Stack>
  )
}
