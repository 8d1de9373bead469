import type { Connection, Operation } from './connection.ts'
import { badAnswer, type ErrorCode, type FieldFault } from './errors.ts'
import { jsonText, type Unset } from './json-text.ts'
import type { CallOptions } from './options.ts'
import { isArray, isCount, isObject, isOneOf, isText, isTextOrNull, read, type Shape } from './shape.ts'
import type { UserGroupFields } from './user-group.ts'
import type { components } from './wire.ts'

type Wire = components['schemas']
type WireResult = Extract<Wire['ImportLine'], { line: number }>

/** What became of one row of an import, or in a dry run would. */
export interface ImportResult {
  /** Which of the rows it is, from 1. */
  readonly row: number
  /** Null where the row does not say it. */
  readonly userGroupId: string | null
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'refused'
  /** Why it was refused. Else null. */
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly fields: readonly FieldFault[]
  } | null
}

export interface ImportOptions extends CallOptions {
  /** Changes nothing, and says what would be. Default: false. */
  readonly dryRun?: boolean | undefined
}

/** How much goes into a call: little enough for it to be repeated. */
const maxRows = 500
const maxLength = 1_000_000

const resultShape: Shape<WireResult> = {
  line: isCount,
  user_group_id: isTextOrNull,
  outcome: isOneOf(['created', 'updated', 'unchanged', 'refused']),
  error: (value) => value === undefined || isObject(value),
}
const errorShape: Shape<NonNullable<WireResult['error']>> = {
  code: isText,
  message: isText,
  fields: (value) => value === undefined || isArray(value),
}

/** Call by call, each once its rows are there and its results are asked for. */
export async function* importRows(
  connection: Connection,
  rows: Iterable<UserGroupFields> | AsyncIterable<UserGroupFields>,
  { dryRun = false, ...options }: ImportOptions,
): AsyncGenerator<ImportResult> {
  let lines: string[] = []
  let length = 0
  let before = 0
  const send = async () => {
    const results = await connection.call(
      importOperation(lines, before, dryRun),
      connection.limitsOf(options),
    )
    before += lines.length
    lines = []
    length = 0
    return results
  }
  for await (const row of rows) {
    const line = jsonText(bodyOf(row))
    lines.push(line)
    length += line.length
    if (lines.length >= maxRows || length >= maxLength) yield* await send()
  }
  if (lines.length > 0) yield* await send()
}

function bodyOf({ userGroupId, ...others }: UserGroupFields): Unset<Wire['ImportRow']> {
  return { user_group_id: userGroupId, ...others }
}

function importOperation(
  lines: readonly string[],
  before: number,
  dryRun: boolean,
): Operation<ImportResult[]> {
  return {
    method: 'POST',
    path: '/admin/v1/user-groups/import',
    query: `dry_run=${dryRun}`,
    headers: { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson, application/json' },
    body: `${lines.join('\n')}\n`,
    answersLines: true,
    read: (answer) => {
      if (!isArray(answer) || answer.length !== lines.length + 1)
        throw badAnswer('it does not tell of every row')
      return answer.slice(0, -1).map((line) => resultOf(line, before))
    },
  }
}

function resultOf(value: unknown, before: number): ImportResult {
  const { line, user_group_id, outcome, error } = read(value, 'a result', resultShape)
  const told = error && read(error, 'the error', errorShape)
  return {
    row: before + line,
    userGroupId: user_group_id,
    outcome,
    error: told === undefined ? null : { code: told.code, message: told.message, fields: told.fields ?? [] },
  }
}
