import { adminPath, csrfHeaders, noteError } from '../../api/request.ts'
import { ApiError, errorOf, unreachable } from '../../api/errors.ts'
import { noteActivity } from '../../session/store.ts'

export type Format = 'ndjson' | 'csv'

const mediaTypes: Record<Format, string> = { ndjson: 'application/x-ndjson', csv: 'text/csv' }

interface Upload {
  readonly file: File
  readonly format: Format
  readonly isDryRun: boolean
  readonly signal: AbortSignal
  /** Progress from 0 to 1. */
  readonly onProgress: (part: number) => void
}

/**
 * Sends the file from disk. The response may be as large, so it is a Blob.
 * @throws ApiError; `AbortError` if it was stopped
 */
export async function upload({ file, format, isDryRun, signal, onProgress }: Upload): Promise<Blob> {
  const request = new XMLHttpRequest()
  request.open('POST', adminPath('/user-groups/import', { dry_run: isDryRun }))
  request.responseType = 'blob'
  request.setRequestHeader('Content-Type', mediaTypes[format])
  for (const [name, value] of Object.entries(csrfHeaders())) request.setRequestHeader(name, value)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total)
  const onAbort = () => request.abort()
  signal.addEventListener('abort', onAbort)
  try {
    await new Promise<void>((resolve, reject) => {
      request.onload = () => resolve()
      request.onabort = () => reject(new DOMException('The import was stopped', 'AbortError'))
      request.onerror = () => reject(unreachable())
      request.send(file)
    })
  } catch (error) {
    if (error instanceof ApiError && !(await canBeRead(file))) throw changed()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
  const response = request.response as Blob
  if (request.status === 200) {
    noteActivity()
    return response
  }
  const error = errorOf(request.status, await response.text())
  noteError(error)
  throw error
}

/** The browser refuses to read a file that changed after it was chosen. */
async function canBeRead(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer()
    return true
  } catch {
    return false
  }
}

function changed(): ApiError {
  return new ApiError({
    status: 0,
    code: 'unreadable',
    message:
      'The file cannot be read. It may have been changed or moved since you chose it: choose it again.',
  })
}

/** Returns the format by file extension, or else by the first character. */
export async function formatOf(file: File): Promise<Format> {
  if (/\.csv$/i.test(file.name)) return 'csv'
  if (/\.(ndjson|jsonl|json)$/i.test(file.name)) return 'ndjson'
  return /^\s*[{[]/.test(await file.slice(0, 64).text()) ? 'ndjson' : 'csv'
}
