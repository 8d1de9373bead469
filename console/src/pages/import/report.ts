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
  /** The first of those that were refused. */
  readonly refused: readonly Refused[]
  /** All of them, as CSV. */
  readonly refusedFile: Blob
}

type Line = { readonly summary: Summary } | ({ readonly outcome: string } & Refused)

/** As many refused rows as are kept to be shown; the file has all of them. */
const keptAtMost = 1000
const partLength = 1024 * 1024

/**
 * Reads the answer line by line, so that one about a million rows needs no more memory than one about a few.
 * @throws ApiError where it was cut off
 */
export async function readReport(answer: Blob): Promise<Report> {
  const refused: Refused[] = []
  const parts: Blob[] = []
  let summary: Summary | undefined
  let text = 'line,user_group_id,code,reason\r\n'
  const write = () => {
    parts.push(new Blob([text]))
    text = ''
  }
  for await (const line of linesOf(answer)) {
    const told = JSON.parse(line) as Line
    if ('summary' in told) {
      summary = told.summary
      continue
    }
    if (told.outcome !== 'refused') continue
    if (refused.length < keptAtMost) refused.push(told)
    text += csvLine([told.line, told.user_group_id ?? '', told.error.code, told.error.message])
    if (text.length > partLength) write()
  }
  write()
  if (summary === undefined) throw cutOff()
  return { summary, refused, refusedFile: new Blob(parts, { type: 'text/csv' }) }
}

async function* linesOf(answer: Blob): AsyncGenerator<string> {
  const reader = answer.stream().pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  // A whole answer ends with a line feed.
  if (rest !== '') throw cutOff()
}

function cutOff(): ApiError {
  return new ApiError({
    status: 200,
    code: 'cut_off',
    message:
      'The answer was cut off, so that it is not known how far it got. Start it again: what is done already stays as it is.',
  })
}

function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map((field) => csvField(String(field))).join()}\r\n`
}

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
