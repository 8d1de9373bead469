/** Writes a record of CSV (RFC 4180). */
export function csvRecord(fields: readonly string[]): string {
  return `${fields.map(csvField).join()}\r\n`
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns a text that spreadsheet programs do not run as a formula. Not for exports that are imported again. */
export function cellOf(text: string | null | undefined): string {
  return text?.replace(/^(?=[=+@\t\r-])/, "'") ?? ''
}
