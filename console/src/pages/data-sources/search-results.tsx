import { Button } from '@mantine/core'
import type { Schema } from '../../api/registry.ts'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'
import type { OpenDialog } from './dialog.tsx'
import { SchemaList } from './schema-list.tsx'
import { isNamed, useNamedDataSources } from './use-data-sources.ts'

interface Props {
  /** In lower case. */
  readonly wanted: string
  readonly schemas: readonly Schema[]
  readonly open: OpenDialog
  readonly onShowAll: () => void
}

/** Lists matching data sources by schema, and matching schemas. */
export function SearchResults({ wanted, schemas, open, onShowAll }: Props) {
  const named = useNamedDataSources(wanted)
  const { rows, error, isPending, isError, isSearching, hasGivenUp, refetch, fetchNextPage } = named
  const entries = schemas.flatMap((schema) => {
    const found = rows.filter(({ schema_id }) => schema_id === schema.id)
    if (found.length > 0) return [{ schema, found }]
    return isNamed(schema, wanted) ? [{ schema }] : []
  })
  return (
    <>
      <SchemaList entries={entries} open={open} />
      {isPending && <LoadingState lines={3} label="Searching the data sources" />}
      {isError && (
        <ErrorState
          error={error}
          title="The search did not get to the end"
          onRetry={() => void (rows.length === 0 ? refetch() : fetchNextPage())}
        />
      )}
      {entries.length === 0 && !isPending && !isError && !isSearching && !hasGivenUp && (
        <EmptyState
          title="Nothing matches"
          action={
            <Button variant="default" size="xs" onClick={onShowAll}>
              Show all
            </Button>
          }
        />
      )}
      <PagesFooter found={named} noun="data source" />
    </>
  )
}
