import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'

export type Finding = Wire['IsolationResponse']['findings'][number]

/** `broken`: dashboards have no data, or that of either of two entries. `shared`: this may be intended. */
export type Severity = 'broken' | 'shared'

const severityOf = ({ kind }: Finding): Severity => (kind === 'shared' ? 'shared' : 'broken')

/** Loads the findings of one severity. Both share the loaded pages, because the service lists all findings together. */
export const useFindings = (severity: Severity) =>
  usePages<Wire['IsolationResponse'], Finding>({
    queryKey: ['isolation-findings'],
    path: '/isolation-findings',
    rowsOf: ({ findings }) => findings.filter((finding) => severityOf(finding) === severity),
    wanted: severity,
    pageRows: 25,
    pageSize: 200,
    // The findings may have been fixed on another page.
    refetchOnMount: 'always',
  })
