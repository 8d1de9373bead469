import { json, successful, time } from '../../../contract/json/json-builder.ts'
import type { LeakedToken } from '../../../domain/user-group/user-group-management.ts'
import { apiTokenJson } from '../api-tokens/responses.ts'
import { userGroupJson } from '../user-groups/responses.ts'

export function leakedTokenResponse(leaked: LeakedToken): string {
  switch (leaked.kind) {
    case 'user_group_token':
      return successful({
        kind: json(leaked.kind),
        works: json(leaked.works),
        user_group: userGroupJson(leaked.userGroup),
        valid_until: time(leaked.validUntil),
        rotated: json(leaked.rotated),
      })
    case 'api_token':
      return successful({
        kind: json(leaked.kind),
        works: json(leaked.works),
        api_token: apiTokenJson(leaked.apiToken),
      })
    case 'unknown':
      return successful({ kind: json(leaked.kind), works: 'false' })
  }
}
