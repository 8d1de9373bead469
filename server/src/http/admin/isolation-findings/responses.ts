import { array, json, object } from '../../../contract/json/json-builder.ts'
import type { IsolationFinding } from '../../../domain/user-group/user-group-management.ts'
import { registeredJson } from '../user-groups/responses.ts'

export function isolationFindingJson({ kind, entry, dataSource, userGroups }: IsolationFinding): string {
  return object({
    kind: json(kind),
    schema: json(entry[0]),
    data_source: json(entry[1]),
    registered: registeredJson(dataSource),
    user_groups: array(userGroups, ({ teamId, providedId, name }) =>
      json({ team_id: teamId, provided_id: providedId, name }),
    ),
  })
}
