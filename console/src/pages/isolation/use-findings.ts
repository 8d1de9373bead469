import type { Query } from '../../api/request.ts'
import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'
import { severityOf, type Finding, type Severity } from './search.ts'

/** Prefix of the keys of all queries of findings. */
export const queryKey = ['isolation-findings'] as const

/** Loads the findings of one severity. Both share the loaded pages, because the service lists all findings together. */
export const useFindings = (severity: Severity, query: Query) =>
  usePages<Wire['IsolationResponse'], Finding>({
    queryKey: [...queryKey, query],
    path: '/isolation-findings',
    query,
    rowsOf: ({ findings }) => findings.filter((finding) => severityOf(finding) === severity),
    wanted: severity,
    pageRows: 25,
    pageSize: 200,
    // The findings may have been fixed on another page.
    refetchOnMount: 'always',
  })
