import type { IsolationFinding } from '../../../domain/user-group/user-group-management.ts'

/** Returns the members of an `IsolationFinding`. */
export const shownFinding = ({ entry: [schema, dataSource], ...finding }: IsolationFinding) => ({
  ...finding,
  schema,
  dataSource,
  registered: finding.dataSource,
})
