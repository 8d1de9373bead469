import { Type, type Static } from 'typebox'
import { limits } from '../../contract/limits.ts'
import { timestamp, wholeNumber, withoutNul } from '../../contract/patterns.ts'
import { response, success } from '../../contract/user/schemas.ts'
import { validationFailed } from '../../domain/fault.ts'
import { parseTimestamp } from '../../domain/util/timestamp.ts'

// Schemas that several resources of `/admin/v1` share.

export const time = (description: string) =>
  Type.String({
    description: `${description} (RFC 3339, UTC).`,
    format: 'date-time',
    examples: ['2026-11-21T20:15:53.000Z'],
  })
export const timeOrNull = (description: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: `${description} (RFC 3339, UTC), or null.`,
    examples: [null],
  })
export const id = (description: string) => Type.Integer({ description, minimum: 1, examples: [213] })
export const author = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description:
    'Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`. Null for changes older than the audit log.',
  examples: ['api_token:3'],
})
export const revision = Type.Integer({
  description: 'Increases with every change of the user group and with every rotation. Part of the ETag.',
  minimum: 1,
  examples: [4],
})
export const nextCursor = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description:
    'Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.',
  examples: [null],
})
export const DeletedResponse = response({ success, deleted: Type.Literal(true) })

/** A data source as a user group's mapping entry names it. */
export const dataSource = response({
  id: id('Id of the data source.'),
  provided_id: Type.String({ examples: ['warehouse-eu'] }),
  name: Type.String({ examples: ['Warehouse EU'] }),
})

export const differences = Type.Array(
  response({
    path: Type.String({ description: 'JSON Pointer (RFC 6901).', examples: ['/properties/plan'] }),
    before: Type.Optional(Type.Unknown()),
    after: Type.Optional(Type.Unknown()),
  }),
  {
    description: 'Changed values. `before` is absent if the value was added, `after` if it was removed.',
    examples: [[{ path: '/properties/plan', before: 'gold', after: 'silver' }]],
  },
)

// Query parameters are text.

export const limit = Type.String({
  description: 'Maximum number of entries, 1 to 200.',
  pattern: wholeNumber,
  default: '50',
})
export const cursor = Type.String({
  description: '`next_cursor` of the previous page.',
  minLength: 1,
  maxLength: 5000,
})
export const PageQuery = Type.Object(
  { limit: Type.Optional(limit), cursor: Type.Optional(cursor) },
  { additionalProperties: false },
)
export type PageQuery = Static<typeof PageQuery>

export const searchText = (description: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength: limits.textLength, pattern: withoutNul }))

export const timeParameter = (description: string) =>
  Type.String({
    description: `${description} (RFC 3339).`,
    pattern: timestamp,
    examples: ['2026-11-21T20:15:53Z'],
  })

/** @throws Fault `validation_failed` if the time does not exist */
export function timestampOf(name: string, text: string): number {
  const time = parseTimestamp(text)
  if (time !== null) return time
  throw validationFailed([{ path: `/${name}`, message: 'must be an existing date and time' }])
}
