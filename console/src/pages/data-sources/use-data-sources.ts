import { usePages } from '../../api/use-pages.ts'
import type { DataSource, Schema } from '../../api/registry.ts'
import type { Wire } from '../../api/wire.ts'

const path = '/data-sources'
const rowsAtOnce = 50

/** Those of one schema. */
export const useDataSourcesOf = ({ id }: Schema) =>
  usePages<Wire['DataSourceListAnswer'], DataSource>({
    queryKey: ['data-sources', 'of', id],
    path,
    query: { schema_id: id },
    rowsOf: ({ data_sources }) => data_sources,
    rowsAtOnce,
  })

/** Whether this has the text, in lower case, in its name or its provided id. */
export const isNamed = ({ name, provided_id }: Schema | DataSource, text: string): boolean =>
  name.toLowerCase().includes(text) || provided_id.toLowerCase().includes(text)

/** Those of all schemas that have this text in the name or the provided id; the service does not look for that. */
export const useNamedDataSources = (text: string) =>
  usePages<Wire['DataSourceListAnswer'], DataSource>({
    queryKey: ['data-sources', 'all'],
    path,
    rowsOf: ({ data_sources }) => data_sources.filter((dataSource) => isNamed(dataSource, text)),
    wanted: text,
    rowsAtOnce,
    pageSize: 200,
  })
