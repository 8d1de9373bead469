import { cellOf, csvRecord } from '../../../contract/import/csv-record.ts'
import type { BulkFormat } from '../../../contract/import/import-rows.ts'
import { writeJson } from '../../../contract/json/json-writer.ts'
import type { IsolationFinding } from '../../../domain/user-group/isolation-finding.ts'
import type { RowWriter } from '../stream-rows.ts'
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

/** Writers of the rows of an export, by format. */
export const findingWriters: Readonly<Record<BulkFormat, RowWriter<IsolationFinding>>> = {
  ndjson: { head: '', row: (finding) => `${writeJson(IsolationFindingSchema, shownFinding(finding))}\n` },
  csv: {
    head: 'kind,schema,data_source,data_source_name,user_group_ids,affected,is_exact,changed_at,status,reason,accepted_at,accepted_by\r\n',
    row: ({ kind, entry: [schema, key], dataSource, affected, status, acceptance }) =>
      csvRecord([
        kind,
        cellOf(schema),
        cellOf(key),
        cellOf(dataSource?.name),
        JSON.stringify(affected.first.map(({ providedId }) => providedId)),
        String(affected.total.count),
        String(affected.total.isExact),
        new Date(affected.changedAt).toISOString(),
        status,
        cellOf(acceptance?.reason),
        acceptance === null ? '' : new Date(acceptance.acceptedAt).toISOString(),
        cellOf(acceptance?.acceptedBy),
      ]),
  },
}
