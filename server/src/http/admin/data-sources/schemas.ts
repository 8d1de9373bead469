import { Type, type Static } from 'typebox'
import { response, success, text } from '../../../contract/user/schemas.ts'
import { id, nextCursor, time } from '../fields.ts'

const registered = {
  id: id('Id that the service assigned.'),
  provided_id: Type.String({ description: 'Id that you assigned.', examples: ['sales'] }),
  name: Type.String({ examples: ['Sales'] }),
  created_at: time('Time of registration'),
}
const Schema = response(registered)
const DataSource = response({ ...registered, schema_id: id('Id of the schema that the data source has.') })
const newRegistered = {
  provided_id: text('Id that you assign.', 'sales'),
  name: text('Name.', 'Sales'),
}

export const SchemaBody = Type.Object(newRegistered, { additionalProperties: false })
export type SchemaBody = Static<typeof SchemaBody>
export const SchemaListResponse = response({ success, schemas: Type.Array(Schema) })
export const SchemaResponse = response({ success, schema: Schema })

export const DataSourceBody = Type.Object(
  {
    schema_id: Type.Integer({
      ...id('Id of the schema that the data source has.'),
      maximum: 999_999_999_999_999,
    }),
    ...newRegistered,
  },
  { additionalProperties: false },
)
export type DataSourceBody = Static<typeof DataSourceBody>
export const DataSourceListResponse = response({
  success,
  data_sources: Type.Array(DataSource),
  next_cursor: nextCursor,
})
export const DataSourceResponse = response({ success, data_source: DataSource })
