import { json, object, time } from '../../../contract/json/json-builder.ts'
import type { ApiToken } from '../../../domain/api-token/api-token.ts'
import { rateLimitText } from '../../../domain/api-token/rate-limit.ts'

export function apiTokenJson(token: ApiToken): string {
  return object({
    id: json(token.id),
    name: json(token.name),
    api_environment_tag: json(token.environment),
    scopes: json(token.scopes),
    created_at: time(token.createdAt),
    expires_at: time(token.expiresAt),
    revoked_at: time(token.revokedAt),
    last_used_at: time(token.lastUsedAt),
    replaced_by: json(token.replacedBy),
    rate_limit: json(token.rateLimit && rateLimitText(token.rateLimit)),
  })
}
