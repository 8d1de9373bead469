import { ApiError } from '../../api/errors.ts'

export interface Refused {
  readonly line: number
  readonly user_group_id: string | null
  readonly error: { readonly code: string; readonly message: string }
}

export interface Summary {
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly dry_run: boolean
}

export interface Report {
  readonly summary: Summary
  /** The first refused rows. */
  readonly refused: readonly Refused[]
  /** All refused rows, as CSV. */
  readonly refusedFile: Blob
}

type Line = { readonly summary: Summary } | ({ readonly outcome: string } & Refused)

/** Maximum number of refused rows to show. The downloadable file is complete. */
const keptAtMost = 1000
const partLength = 1024 * 1024

/**
 * Reads the response line by line, so that memory does not grow with the number of rows.
 * @throws ApiError if the response is incomplete
 */
export async function readReport(response: Blob): Promise<Report> {
  const refused: Refused[] = []
  const parts: Blob[] = []
  let summary: Summary | undefined
  let text = 'line,user_group_id,code,reason\r\n'
  const write = () => {
    parts.push(new Blob([text]))
    text = ''
  }
  for await (const line of linesOf(response)) {
    const entry = JSON.parse(line) as Line
    if ('summary' in entry) {
      summary = entry.summary
      continue
    }
    if (entry.outcome !== 'refused') continue
    if (refused.length < keptAtMost) refused.push(entry)
    text += csvLine([entry.line, entry.user_group_id ?? '', entry.error.code, entry.error.message])
    if (text.length > partLength) write()
  }
  write()
  if (summary === undefined) throw cutOff()
  return { summary, refused, refusedFile: new Blob(parts, { type: 'text/csv' }) }
}

async function* linesOf(response: Blob): AsyncGenerator<string> {
  const reader = response.stream().pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  // A complete response ends with a line feed.
  if (rest !== '') throw cutOff()
}

function cutOff(): ApiError {
  return new ApiError({
    status: 200,
    code: 'cut_off',
    message:
      'The response is incomplete, so the result is unknown. Import the file again: imports are idempotent.',
  })
}

function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map((field) => csvField(String(field))).join()}\r\n`
}

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
