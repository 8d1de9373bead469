import { csrfHeaders, adminPath, noteError, type Query } from './request.ts'
import { errorOf, unreachable } from './errors.ts'

/**
 * Loads a file of `/admin/v1`. A link could not select the session of this tab among those of the browser.
 * @throws ApiError
 */
export async function loadFile(path: string, query: Query): Promise<Blob> {
  const response = await fetch(adminPath(path, query), { cache: 'no-store', headers: csrfHeaders() }).catch(
    () => {
      throw unreachable()
    },
  )
  if (response.ok) return response.blob()
  const error = errorOf(response.status, await response.text())
  noteError(error)
  throw error
}

/** Saves a file of the browser. */
export function saveFile(name: string, file: Blob): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Revoked at once, the download would not start in all browsers.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Returns rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula has an apostrophe in front. */
export function csvOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): Blob {
  const text = [head, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')
  return new Blob([text], { type: 'text/csv' })
}

function cellOf(value: string | number): string {
  const text = String(value).replace(/^(?=[=+@\t\r-])/, "'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
