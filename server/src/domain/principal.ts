import type { ApiToken, ManagementScope } from './api-token/api-token.ts'
import type { Author } from './audit/audit-event.ts'
import type { TenantScope } from './tenant-scope.ts'

/** A person in one environment, as the identity provider described them at the sign-in. The service stores no people, only sessions. */
export interface Person extends TenantScope {
  /** Id of the person at the identity provider: the claim `sub`. */
  readonly sub: string
  readonly name: string
  /** Null if the provider sent none, or one that is not verified. */
  readonly email: string | null
  readonly role: ManagementScope
}

/** Maximum length of the id, the name and the email of a person, in UTF-16 code units. That of an id is from OpenID Connect. */
export const maxPersonTextLength = 255

/** Maximum length of an author: the names of operators are shorter than the ids of people. */
export const maxAuthorLength = 'person:'.length + maxPersonTextLength

/** Sender of a request: the holder of an API token, or a person who signed in to the console. */
export type Principal = ApiToken | Person

export function isPerson(principal: Principal): principal is Person {
  return 'sub' in principal
}

export function authorOf(principal: Pick<ApiToken, 'id'> | Person): Author {
  return 'sub' in principal ? `person:${principal.sub}` : `api_token:${principal.id}`
}

export function scopesOf(principal: Principal): ApiToken['scopes'] {
  return isPerson(principal) ? [principal.role] : principal.scopes
}
