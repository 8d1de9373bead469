import { Type } from 'typebox'
import { ErrorResponse } from '../errors.ts'
import { response, identity, Mapping, name, Properties, UserGroupBody } from '../user/schemas.ts'

// The rows of an import and of an export (`/admin/v1/user-groups/import`, `…/export`).

export const ImportRow = UserGroupBody

const count = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, examples: [example] })

const ImportResult = response({
  line: Type.Integer({ description: 'On which line the row starts.', minimum: 1, examples: [2] }),
  user_group_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Null where it could not be told.',
    examples: ['customer-42'],
  }),
  outcome: Type.Enum(['created', 'updated', 'unchanged', 'refused'], { examples: ['created'] }),
  error: Type.Optional(Type.Omit(ErrorResponse.properties.error, ['request_id'])),
})

const ImportSummary = response({
  summary: response({
    rows: count('How many there were.', 1000),
    created: count('How many user groups are new.', 990),
    updated: count('How many were changed.', 0),
    unchanged: count('How many were as described already.', 0),
    refused: count('How many rows were refused.', 10),
    dry_run: Type.Boolean({ description: 'Whether nothing was changed.', examples: [false] }),
  }),
})

export const ImportLine = Type.Union([ImportResult, ImportSummary], {
  description: 'Of a row; the last one is the summary, and an answer without it was cut off.',
})

export const ExportRow = response({
  user_group_id: identity.provided_id,
  name,
  mapping: Mapping,
  properties: Properties,
})
