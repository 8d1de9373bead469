import { cellOf, csvRecord } from '../../../contract/import/csv-record.ts'
import type { BulkFormat } from '../../../contract/import/import-rows.ts'
import { writeJson } from '../../../contract/json/json-writer.ts'
import type { ShownUserGroupUsage } from '../../../domain/usage/usage-reports.ts'
import type { RowWriter } from '../stream-rows.ts'
import { UsageRow } from './schemas.ts'

/** Writers of `UsageRow`. */
export const usageRowWriters: Readonly<Record<BulkFormat, RowWriter<ShownUserGroupUsage>>> = {
  ndjson: { head: '', row: (usage) => `${writeJson(UsageRow, usage)}\n` },
  csv: {
    head: csvRecord(Object.keys(UsageRow.properties)),
    row: (usage) =>
      csvRecord([
        String(usage.teamId),
        cellOf(usage.providedId),
        cellOf(usage.name),
        String(usage.viewers),
        String(usage.activeDays),
        String(usage.viewerDays),
        new Date(usage.lastSeenAt).toISOString(),
      ]),
  },
}
