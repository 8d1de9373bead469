import { usePages } from '../../api/use-pages.ts'
import type { Wire } from '../../api/wire.ts'

export type Finding = Wire['IsolationAnswer']['findings'][number]

export const useFindings = () =>
  usePages<Wire['IsolationAnswer'], Finding>({
    queryKey: ['isolation-findings'],
    path: '/isolation-findings',
    rowsOf: ({ findings }) => findings,
    rowsAtOnce: 25,
    // What it tells may have been mended on another page.
    refetchOnMount: 'always',
  })
