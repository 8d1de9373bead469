import { csvOf } from '../../api/download.ts'
import { getAdmin, type Query } from '../../api/request.ts'
import type { Month } from '../../api/usage.ts'
import { usePages } from '../../api/use-pages.ts'
import { DataTable, type Columns } from '../../components/data-table.tsx'
import { DownloadButton } from '../../components/download-button.tsx'
import { PagesFooter } from '../../components/pages-footer.tsx'
import { Section } from '../../components/section.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../components/states.tsx'

interface UsagePage<Row> {
  readonly usage: readonly Row[]
  readonly next_cursor: string | null
}

interface Props<Row> {
  readonly title: string
  readonly by: 'user_group' | 'viewer' | 'resource'
  readonly month: Month
  /** Undefined for all user groups. */
  readonly teamId?: string
  readonly columns: Columns<Row>
  readonly rowId: (row: Row) => string
  /** Noun for one row. */
  readonly noun: string
  /** Members of a row for the CSV file, by the names of the API. */
  readonly members?: readonly (keyof Row & string)[]
  /** Loads the CSV file. Default: all pages of the list. */
  readonly loadCsv?: () => Promise<Blob>
}

/** Lists user groups, viewers or resources of a month. */
export function UsageList<Row>(props: Props<Row>) {
  const { title, by, month, teamId, columns, rowId, noun, members = [] } = props
  const query = { by, month, team_id: teamId }
  const found = usePages<UsagePage<Row>, Row>({
    queryKey: ['usage', by, teamId, month],
    path: '/usage',
    query,
    rowsOf: ({ usage }) => usage,
    pageRows: 50,
  })
  const { loadCsv = () => loadAll(query, members) } = props
  const { rows, error, isPending, refetch } = found
  return (
    <Section
      title={title}
      actions={
        rows.length > 0 && <DownloadButton name={`usage-${month}-${by}.csv`} label="CSV" load={loadCsv} />
      }
    >
      {error !== null ? (
        <ErrorState error={error} title="The list cannot be shown" onRetry={() => void refetch()} />
      ) : isPending ? (
        <LoadingState lines={5} label={`Loading ${noun}s`} />
      ) : rows.length === 0 ? (
        <EmptyState title={`No ${noun} in this month`} />
      ) : (
        <>
          <DataTable label={title} columns={columns} rows={rows} rowId={rowId} />
          <PagesFooter found={found} noun={noun} />
        </>
      )}
    </Section>
  )
}

async function loadAll(query: Query, members: readonly string[]): Promise<Blob> {
  const rows: (string | number)[][] = []
  let cursor: string | undefined
  do {
    const page = await getAdmin<UsagePage<Readonly<Record<string, string | number>>>>('/usage', {
      query: { ...query, limit: 200, cursor },
    })
    rows.push(...page.usage.map((row) => members.map((member) => row[member] ?? '')))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return csvOf(members, rows)
}
