import { Type } from 'typebox'
import { textEnum } from '../../../contract/text-enum.ts'
import { identity, response, success } from '../../../contract/user/schemas.ts'
import { DataSource, nextCursor } from '../fields.ts'

export const IsolationFinding = response(
  {
    kind: textEnum(['shared', 'unresolved', 'mapped_twice'], {
      description:
        '`shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source. `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with another one.',
    }),
    schema: Type.String({
      description: 'Search for `schema` and `data_source` to find all affected user groups.',
      examples: ['40'],
    }),
    data_source: Type.String({ examples: ['213'] }),
    registered: Type.Union([DataSource, Type.Null()], { description: 'Null if it is not registered.' }),
    user_groups: Type.Array(
      response({
        team_id: identity.team_id,
        provided_id: identity.provided_id,
        name: identity.name,
      }),
      { description: 'The first ten affected user groups.' },
    ),
  },
  'A finding of the isolation check.',
)

export const IsolationResponse = response({
  success,
  findings: Type.Array(IsolationFinding),
  next_cursor: nextCursor,
})
