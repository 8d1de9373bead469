import { Type } from 'typebox'
import { identity, response, success } from '../../../contract/user/schemas.ts'
import { dataSource, nextCursor } from '../fields.ts'
import { textEnum } from '../../../contract/text-enum.ts'

export const IsolationResponse = response({
  success,
  findings: Type.Array(
    response({
      kind: textEnum(['shared', 'unresolved', 'mapped_twice'], {
        description:
          '`shared`: several user groups see the same data. `unresolved`: mapping entries that name no registered data source. `mapped_twice`: mapping entries that name a schema by its id, while the mapping also has the provided id of the schema.',
      }),
      schema: Type.String({ examples: ['40'] }),
      data_source: Type.String({ examples: ['213'] }),
      registered: Type.Union([dataSource, Type.Null()]),
      user_groups: Type.Array(
        response({
          team_id: identity.team_id,
          provided_id: identity.provided_id,
          name: identity.name,
        }),
        { description: 'The first ten user groups.' },
      ),
    }),
  ),
  next_cursor: nextCursor,
})
