import { Type } from 'typebox'

// What several answers of `/admin/v1` are made of.

export const time = (description: string) =>
  Type.String({
    description: `${description} (RFC 3339, UTC).`,
    format: 'date-time',
    examples: ['2026-11-21T20:15:53.000Z'],
  })
export const timeOrNull = (description: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: `${description} (RFC 3339, UTC); null where it is not so.`,
    examples: [null],
  })
export const id = (description: string) => Type.Integer({ description, minimum: 1, examples: [213] })
export const author = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description:
    'Whose call it was: `api_token:` and the id of the API token, or `cli:` and the name of the operator; null where it was not kept yet.',
  examples: ['api_token:3'],
})
export const revision = Type.Integer({
  description: 'Goes up with each change of the user group, its token included. The ETag is made of it.',
  minimum: 1,
  examples: [4],
})
export const nextCursor = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description:
    'What to send as `cursor` for the next page; null where there is none. A page may have fewer entries than asked for, and none, and the next one more.',
  examples: [null],
})
