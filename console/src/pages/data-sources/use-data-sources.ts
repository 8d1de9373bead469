import { usePages } from '../../api/use-pages.ts'
import type { DataSource, Schema } from '../../api/registry.ts'
import type { Wire } from '../../api/wire.ts'

const path = '/data-sources'
const pageRows = 50

/** Loads the data sources of one schema. */
export const useDataSourcesOf = ({ id }: Schema) =>
  usePages<Wire['DataSourceListResponse'], DataSource>({
    queryKey: ['data-sources', 'of', id],
    path,
    query: { schema_id: id },
    rowsOf: ({ data_sources }) => data_sources,
    pageRows,
  })

/** Returns true if the name or the provided id contains the text, which must be in lower case. */
export const isNamed = ({ name, provided_id }: Schema | DataSource, text: string): boolean =>
  name.toLowerCase().includes(text) || provided_id.toLowerCase().includes(text)

/** Finds data sources by name or provided id. Filters here, because the service has no such search. */
export const useNamedDataSources = (text: string) =>
  usePages<Wire['DataSourceListResponse'], DataSource>({
    queryKey: ['data-sources', 'all'],
    path,
    rowsOf: ({ data_sources }) => data_sources.filter((dataSource) => isNamed(dataSource, text)),
    wanted: text,
    pageRows,
    pageSize: 200,
  })
