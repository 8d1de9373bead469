import { Type, type Static, type TProperties } from 'typebox'
import type { BulkFormat } from '../../contract/import/import-rows.ts'
import { object, response, textEnum } from '../../contract/schema.ts'
import { limits } from '../../contract/limits.ts'
import { timestamp, wholeNumber, withoutNul } from '../../contract/patterns.ts'
import { validationFailed } from '../../domain/fault.ts'
import { parseTimestamp } from '../../domain/util/timestamp.ts'

// Schemas that several resources of `/admin/v1` share.

export const time = (description: string) =>
  Type.String({
    description: `${description} (RFC 3339, UTC).`,
    format: 'date-time',
    examples: ['2026-11-21T20:15:53.000Z'],
  })
export const timeOrNull = (description: string, condition: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: `${description} (RFC 3339, UTC). Null if ${condition}.`,
    format: 'date-time',
    examples: [null],
  })
export const textOrNull = (description: string, example: string | null) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], description, examples: [example] })
export const numberOrNull = (description: string, example: number | null) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description, examples: [example] })
export const id = (description: string) => Type.Integer({ description, minimum: 1, examples: [213] })
export const count = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, examples: [example] })
export const Total = object(
  {
    count: count('Number of entries.', 213),
    is_exact: Type.Boolean({
      description:
        'False if there are at least `count`: counting stops at 10,000, or when it takes too long.',
    }),
  },
  'A number of entries.',
)
/** Text for descriptions. */
export const authorForms =
  '`api_token:` and the id of the API token, `person:` and the id of the person at the identity provider, `cli:` and the name of the operator, or `service`.'
export const author = textOrNull(
  `Author of the change: ${authorForms} Null if it was not recorded.`,
  'api_token:3',
)
export const revision = Type.Integer({
  description: 'Increases with every change, including token rotations and suspensions. Part of the ETag.',
  minimum: 1,
  examples: [4],
})
export const nextCursor = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description:
    'Send it as `cursor` to get the next page; null on the last page. A page may have fewer entries than `limit`, or none, and still have a next page.',
  examples: [null],
})
/** A response with a page of a list. */
export const page = <T extends TProperties>(members: T) => response({ ...members, next_cursor: nextCursor })

export const DeletedResponse = response({ deleted: Type.Literal(true) })

/** A data source as a user group's mapping entry names it. */
export const DataSource = object(
  {
    id: id('Id that the service assigned.'),
    provided_id: Type.String({
      description: 'The id that was assigned at registration.',
      examples: ['warehouse-eu'],
    }),
    name: Type.String({ examples: ['Warehouse EU'] }),
  },
  'A registered data source.',
)

export const Difference = object(
  {
    path: Type.String({
      description: 'A JSON Pointer (RFC 6901), such as `/properties/plan`.',
      examples: ['/properties/plan'],
    }),
    before: Type.Optional(Type.Unknown()),
    after: Type.Optional(Type.Unknown()),
  },
  'A difference between two states. `before` is absent if the value was added, `after` if it was removed.',
)
export const differences = Type.Array(Difference, {
  examples: [[{ path: '/properties/plan', before: 'gold', after: 'silver' }]],
})

// Query parameters are text.

export const pageParameters = {
  limit: Type.Optional(
    Type.String({
      description: 'Maximum number of entries per page: 1 to 200. Default: 50.',
      pattern: wholeNumber,
      default: '50',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ description: '`next_cursor` of the previous page.', minLength: 1, maxLength: 5000 }),
  ),
}
export const PageLimit = object(pageParameters)
export type PageLimit = Static<typeof PageLimit>

export const exportFormat = Type.Optional(
  textEnum(['ndjson', 'csv'] satisfies BulkFormat[], { default: 'ndjson' }),
)

/** `true` or `false`, which is the default. */
export const flag = (description: string) =>
  Type.Optional(textEnum(['true', 'false'], { description, default: 'false' }))

export const searchText = (description: string, maxLength: number = limits.textLength) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength, pattern: withoutNul }))

export const timeParameter = (description: string) =>
  Type.String({
    description: `${description} (RFC 3339).`,
    pattern: timestamp,
    format: 'date-time',
    examples: ['2026-11-21T20:15:53Z'],
  })

/** @throws Fault `validation_failed` if the time does not exist */
export function timestampOf(name: string, text: string): number {
  const time = parseTimestamp(text)
  if (time !== null) return time
  throw validationFailed([{ path: `/${name}`, message: 'must be an existing date and time' }])
}
