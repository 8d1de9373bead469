import type { IsolationFinding } from '../../../domain/user-group/isolation-finding.ts'
import { rowWritersOf } from '../stream-rows.ts'
import { IsolationFinding as IsolationFindingSchema } from './schemas.ts'

/** Returns the members of an `IsolationFinding`. */
export const shownFinding = ({ entry: [schema, dataSource], affected, ...finding }: IsolationFinding) => ({
  ...finding,
  schema,
  dataSource,
  registered: finding.dataSource,
  userGroups: affected.first,
  affected: affected.total,
  changedAt: affected.changedAt,
  version: affected.version,
})

export const findingWriters = rowWritersOf(IsolationFindingSchema, shownFinding, {
  kind: ({ kind }) => kind,
  schema: ({ schema }) => schema,
  data_source: ({ dataSource }) => dataSource,
  data_source_name: ({ registered }) => registered?.name,
  user_group_ids: ({ userGroups }) => JSON.stringify(userGroups.map(({ providedId }) => providedId)),
  affected: ({ affected }) => affected.count,
  is_exact: ({ affected }) => affected.isExact,
  changed_at: ({ changedAt }) => new Date(changedAt).toISOString(),
  status: ({ status }) => status,
  reason: ({ acceptance }) => acceptance?.reason,
  accepted_at: ({ acceptance }) => acceptance && new Date(acceptance.acceptedAt).toISOString(),
  accepted_by: ({ acceptance }) => acceptance?.acceptedBy,
})
