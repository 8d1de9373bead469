import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'

export type Finding = Wire['IsolationResponse']['findings'][number]

export const useFindings = () =>
  usePages<Wire['IsolationResponse'], Finding>({
    queryKey: ['isolation-findings'],
    path: '/isolation-findings',
    rowsOf: ({ findings }) => findings,
    rowsAtOnce: 25,
    // The findings may have been fixed on another page.
    refetchOnMount: 'always',
  })
