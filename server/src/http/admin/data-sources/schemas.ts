import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { wholeNumber } from '../../../contract/patterns.ts'
import { response, success, text } from '../../../contract/user/schemas.ts'
import { id, nextCursor, PageLimit, time } from '../fields.ts'

const registered = {
  id: id('Id that the service assigned.'),
  provided_id: Type.String({ description: 'The id that you assigned.', examples: ['sales'] }),
  name: Type.String({ examples: ['Sales'] }),
  created_at: time('Time of registration'),
}
const schemaId = id('Id of its schema.')

export const RegisteredSchema = response(registered)
export const RegisteredDataSource = response({ ...registered, schema_id: schemaId })

const newRegistered = {
  provided_id: text('Your id for it: 1 to 255 characters.', 'sales'),
  name: text('1 to 255 characters.', 'Sales'),
}
export const SchemaFields = Type.Object(newRegistered, { additionalProperties: false })
export type SchemaFields = Static<typeof SchemaFields>
export const SchemaListResponse = response({ success, schemas: Type.Array(RegisteredSchema) })
export const SchemaResponse = response({ success, schema: RegisteredSchema })

export const DataSourceFields = Type.Object(
  { schema_id: Type.Integer({ ...schemaId, maximum: limits.id }), ...newRegistered },
  { additionalProperties: false },
)
export type DataSourceFields = Static<typeof DataSourceFields>
export const DataSourceSearch = Type.Object(
  {
    schema_id: Type.Optional(
      Type.String({ description: 'Only data sources of this schema. Default: all.', pattern: wholeNumber }),
    ),
    ...PageLimit.properties,
  },
  { additionalProperties: false },
)
export type DataSourceSearch = Static<typeof DataSourceSearch>
export const DataSourceListResponse = response({
  success,
  data_sources: Type.Array(RegisteredDataSource),
  next_cursor: nextCursor,
})
export const DataSourceResponse = response({ success, data_source: RegisteredDataSource })
