import type { ImportResult, ImportSummary } from '../../../domain/user-group/user-group-import.ts'

/** Returns one line of the response to an import. */
export function importResultJson({ line, providedId, outcome, fault }: ImportResult): string {
  const error = fault && {
    code: fault.code,
    message: fault.message,
    ...(fault.fields.length > 0 && { fields: fault.fields }),
  }
  return JSON.stringify({ line, user_group_id: providedId, outcome, ...(error !== null && { error }) })
}

/** Returns the last line of the response to an import. */
export function importSummaryJson(summary: ImportSummary, isDryRun: boolean): string {
  return JSON.stringify({ summary: { ...summary, dry_run: isDryRun } })
}
