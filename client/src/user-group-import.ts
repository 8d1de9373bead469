import type { Connection, Operation } from './connection.ts'
import { badResponse, type ErrorCode, type FieldFault } from './errors.ts'
import { jsonText } from './json-text.ts'
import { snakeCased } from './names.ts'
import type { RequestOptions } from './options.ts'
import { isArray, isCount, isObject, isOneOf, isText, isTextOrNull, read, type Shape } from './shape.ts'
import type { UserGroupFields } from './user-group.ts'
import type { UserWire as Wire } from './wire.ts'

type WireResult = Wire['ImportResult']

/** Result of one row of an import, or of a dry run. */
export interface ImportResult {
  /** Number of the row, from 1. */
  readonly row: number
  /** Null if the row has none. */
  readonly userGroupId: string | null
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'refused'
  /** Reason for `refused`. Null otherwise. */
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly fields: readonly FieldFault[]
  } | null
}

export interface ImportOptions extends RequestOptions {
  /** Changes nothing and reports what an import would do. Default: false. */
  readonly dryRun?: boolean | undefined
}

/** Limits of one request, so that it can be retried. */
const maxRows = 500
const maxLength = 1_000_000

const resultShape: Shape<WireResult> = {
  line: isCount,
  // A refused row may have an empty id.
  user_group_id: (value) => value === '' || isTextOrNull(value),
  outcome: isOneOf(['created', 'updated', 'unchanged', 'refused']),
  error: (value) => value === undefined || isObject(value),
}
const errorShape: Shape<NonNullable<WireResult['error']>> = {
  code: isText,
  message: isText,
  fields: (value) => value === undefined || isArray(value),
}

/** Sends rows in batches, each when it is full and its results are requested. */
export async function* importRows(
  connection: Connection,
  rows: Iterable<UserGroupFields> | AsyncIterable<UserGroupFields>,
  { dryRun = false, ...options }: ImportOptions,
): AsyncGenerator<ImportResult> {
  let lines: string[] = []
  let length = 0
  let sentRows = 0
  const send = async () => {
    const results = await connection.execute(
      importOperation(lines, sentRows, dryRun),
      connection.limitsFor(options),
    )
    sentRows += lines.length
    lines = []
    length = 0
    return results
  }
  for await (const row of rows) {
    const line = jsonText(snakeCased(row))
    lines.push(line)
    length += line.length
    if (lines.length >= maxRows || length >= maxLength) yield* await send()
  }
  if (lines.length > 0) yield* await send()
}

function importOperation(
  lines: readonly string[],
  sentRows: number,
  dryRun: boolean,
): Operation<ImportResult[]> {
  return {
    method: 'POST',
    path: '/admin/v1/user-groups/import',
    query: `dry_run=${dryRun}`,
    headers: { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson, application/json' },
    body: `${lines.join('\n')}\n`,
    isNdjson: true,
    read: (response) => {
      if (!isArray(response) || response.length !== lines.length + 1)
        throw badResponse('a line of the import is missing')
      return response.slice(0, -1).map((line) => resultOf(line, sentRows))
    },
  }
}

function resultOf(value: unknown, sentRows: number): ImportResult {
  const { line, user_group_id, outcome, error } = read(value, 'a result', resultShape)
  const rowError = error && read(error, 'the error', errorShape)
  return {
    row: sentRows + line,
    userGroupId: user_group_id,
    outcome,
    error:
      rowError === undefined
        ? null
        : { code: rowError.code, message: rowError.message, fields: rowError.fields ?? [] },
  }
}
