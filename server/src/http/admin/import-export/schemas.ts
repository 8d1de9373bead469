import { Type } from 'typebox'
import { ErrorResponse } from '../../../contract/errors.ts'
import { identity, Mapping, name, Properties, UserGroupBody } from '../../../contract/user/schemas.ts'
import { object, textEnum } from '../../../contract/schema.ts'

// Rows of an import and of an export. The command line writes the same rows.

export const ImportRow = UserGroupBody

const count = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, examples: [example] })

const ImportResult = object({
  line: Type.Integer({ description: 'Line on which the row starts.', minimum: 1, examples: [2] }),
  user_group_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Null if the row has no readable id.',
    examples: ['customer-42'],
  }),
  outcome: textEnum(['created', 'updated', 'unchanged', 'refused'], { examples: ['created'] }),
  error: Type.Optional(Type.Omit(ErrorResponse.properties.error, ['request_id'])),
})

const ImportSummary = object({
  summary: object({
    rows: count('Number of rows.', 1000),
    created: count('Number of user groups created.', 990),
    updated: count('Number of user groups changed.', 0),
    unchanged: count('Number of user groups that already matched their row.', 0),
    refused: count('Number of rows refused. Only the first 10,000 have a line.', 10),
    dry_run: Type.Boolean({ description: 'True if nothing was written.', examples: [false] }),
  }),
})

export const ImportLine = Type.Union([ImportResult, ImportSummary], {
  description:
    'Result of one row. The last line is the summary; a response without a summary was interrupted.',
})

export const ExportRow = object({
  user_group_id: identity.provided_id,
  name,
  mapping: Mapping,
  properties: Properties,
})
