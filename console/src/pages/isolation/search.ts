import type { Wire } from '../../api/wire.ts'
import { readTimeRange, type TimeRange } from '../../components/time-range.ts'

export type Finding = Wire['IsolationResponse']['findings'][number]
type Kind = Finding['kind']

/** `broken`: dashboards have no data, or that of either of two entries. `shared`: this may be intended. */
export type Severity = 'broken' | 'shared'

export const severityOf = ({ kind }: Pick<Finding, 'kind'>): Severity =>
  kind === 'shared' ? 'shared' : 'broken'

export const kindLabels: Record<Kind, string> = {
  shared: 'Shared',
  unresolved: 'Names nothing',
  mapped_twice: 'Mapped twice',
}

/** Filter of the findings. Kept in the address, so that it can be linked. */
export interface FindingSearch extends TimeRange {
  /** Default: open ones. */
  readonly status?: 'accepted' | 'all'
  readonly finding?: Kind
}

/** Reads the filter from an address. */
export function readFindingSearch(raw: Record<string, unknown>): FindingSearch {
  const { status, finding } = raw
  return {
    ...((status === 'accepted' || status === 'all') && { status }),
    ...(typeof finding === 'string' && finding in kindLabels && { finding: finding as Kind }),
    ...readTimeRange(raw),
  }
}
