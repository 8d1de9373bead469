import type { ImportResult, ImportSummary } from '../../../domain/user-group/user-group-import.ts'

/** Returns one line of the response to an import. */
export function importResultJson({ line, providedId, outcome, fault }: ImportResult): string {
  const start = `{"line":${line},"user_group_id":${JSON.stringify(providedId)},"outcome":"${outcome}"`
  if (fault === null) return `${start}}`
  const fields = fault.fields.length === 0 ? '' : `,"fields":${JSON.stringify(fault.fields)}`
  return `${start},"error":{"code":"${fault.code}","message":${JSON.stringify(fault.message)}${fields}}}`
}

/** Returns the last line of the response to an import. */
export function importSummaryJson(summary: ImportSummary, isDryRun: boolean): string {
  return JSON.stringify({ summary: { ...summary, dry_run: isDryRun } })
}
