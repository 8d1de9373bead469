import { Type, type Static } from 'typebox'
import { object, response } from '../../../contract/schema.ts'
import { limits } from '../../../contract/limits.ts'
import { wholeNumber } from '../../../contract/patterns.ts'
import { text } from '../../../contract/user/schemas.ts'
import { id, page, pageParameters, time } from '../fields.ts'

const registered = {
  id: id('Id that the service assigned.'),
  provided_id: Type.String({ description: 'The id that you assigned.', examples: ['sales'] }),
  name: Type.String({ examples: ['Sales'] }),
  created_at: time('Time of registration'),
}
const schemaId = id('Id of its schema.')

export const RegisteredSchema = object(registered)
export const RegisteredDataSource = object({ ...registered, schema_id: schemaId })

const newRegistered = {
  provided_id: text('Your id for it: 1 to 255 characters.', 'sales'),
  name: text('1 to 255 characters.', 'Sales'),
}
export const SchemaFields = object(newRegistered)
export type SchemaFields = Static<typeof SchemaFields>
export const SchemaListResponse = response({ schemas: Type.Array(RegisteredSchema) })
export const SchemaResponse = response({ schema: RegisteredSchema })

export const DataSourceFields = object({
  schema_id: Type.Integer({ ...schemaId, maximum: limits.id }),
  ...newRegistered,
})
export type DataSourceFields = Static<typeof DataSourceFields>
export const DataSourceSearch = object({
  schema_id: Type.Optional(
    Type.String({ description: 'Only data sources of this schema. Default: all.', pattern: wholeNumber }),
  ),
  ...pageParameters,
})
export type DataSourceSearch = Static<typeof DataSourceSearch>
export const DataSourceListResponse = page({
  data_sources: Type.Array(RegisteredDataSource),
})
export const DataSourceResponse = response({ data_source: RegisteredDataSource })
