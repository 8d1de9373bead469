import { Type, type Static } from 'typebox'
import { auditActions } from '../../domain/audit/audit-event.ts'
import { bulkFormats, type BulkFormat } from '../import/import-rows.ts'
import { limits } from '../limits.ts'
import { timestamp, pointer, wholeNumber, withoutNul } from '../user/schemas.ts'

// The parameters of `/admin/v1`: all of them are text.

const limit = Type.String({ description: 'How many at most, 1 to 200.', pattern: wholeNumber, default: '50' })
const cursor = Type.String({
  description: 'The `next_cursor` of the page before.',
  minLength: 1,
  maxLength: 5000,
})
export const PageQuery = Type.Object(
  { limit: Type.Optional(limit), cursor: Type.Optional(cursor) },
  { additionalProperties: false },
)
export type PageQuery = Static<typeof PageQuery>

export const DataSourceQuery = Type.Object(
  {
    schema_id: Type.Optional(
      Type.String({ description: 'Only those for this schema, by its id.', pattern: wholeNumber }),
    ),
    ...PageQuery.properties,
  },
  { additionalProperties: false },
)
export type DataSourceQuery = Static<typeof DataSourceQuery>

const searchText = (description: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength: limits.textLength, pattern: withoutNul }))

export const UserGroupQuery = Type.Object(
  {
    user_group_id_prefix: searchText('What the id starts with; case counts.'),
    name: searchText('A part of the name, in whatever case.'),
    property: Type.Optional(
      Type.String({
        description: 'A place in the properties, as a JSON Pointer; with `property_value`.',
        pattern: pointer,
        maxLength: 1000,
        examples: ['/plan'],
      }),
    ),
    property_value: Type.Optional(
      Type.String({
        description: 'The string there, or the number or boolean as JSON writes it.',
        pattern: withoutNul,
        maxLength: 1000,
      }),
    ),
    schema: searchText('A key of the mapping; with `data_source`.'),
    data_source: searchText(
      'Its value. Where it names a registered data source, mappings that name it otherwise are found too.',
    ),
    suspended: Type.Optional(Type.Enum(['true', 'false'])),
    limit: Type.Optional(limit),
    cursor: Type.Optional(cursor),
  },
  { additionalProperties: false },
)
export type UserGroupQuery = Static<typeof UserGroupQuery>

const time = (description: string) =>
  Type.Optional(
    Type.String({
      description: `${description} (RFC 3339).`,
      pattern: timestamp,
      examples: ['2026-11-21T20:15:53Z'],
    }),
  )

export const AuditQuery = Type.Object(
  {
    since: time('From this time on'),
    until: time('Before this time'),
    team_id: Type.Optional(Type.String({ description: 'Of this user group.', pattern: wholeNumber })),
    user_group_id: searchText(
      'Of the user group that has this id; where none has it any more, of those that had it.',
    ),
    action: Type.Optional(Type.Enum([...auditActions])),
    author: searchText('By this one, such as `api_token:3` or `cli:root`.'),
    request_id: searchText('In this request, by its `X-Request-Id`.'),
    limit: Type.Optional(limit),
    cursor: Type.Optional(cursor),
  },
  { additionalProperties: false },
)
export type AuditQuery = Static<typeof AuditQuery>

export const DiffQuery = Type.Object(
  {
    to: Type.Optional(
      Type.String({
        description: 'The revision of another version; the current one where it is left out.',
        pattern: wholeNumber,
      }),
    ),
  },
  { additionalProperties: false },
)
export type DiffQuery = Static<typeof DiffQuery>

export const ImportQuery = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'Whether to change nothing, and say what would be.',
        default: 'false',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ImportQuery = Static<typeof ImportQuery>

export const ExportQuery = Type.Object(
  { format: Type.Optional(Type.Enum(Object.keys(bulkFormats) as BulkFormat[], { default: 'ndjson' })) },
  { additionalProperties: false },
)
export type ExportQuery = Static<typeof ExportQuery>

export const NoQuery = Type.Object({}, { additionalProperties: false })
