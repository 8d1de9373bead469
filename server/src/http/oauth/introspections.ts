import { introspectionResponse, sessionIntrospectionResponse } from '../../contract/user/responses.ts'
import type { LastUsedRecorder } from '../../domain/api-token/last-used-tracker.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { lookOf, type Look, type UsageMode } from '../../domain/usage/look.ts'
import type { UserGroupState } from '../../domain/user-group/user-group-store.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import { mayBeJwt } from '../../domain/viewer-session/jwt.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import type { CacheableResponse, ResponseCache } from '../user/response-cache.ts'
import { readIntrospectionForm } from './oauth-clients.ts'

export interface IntrospectionParts {
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly responses: ResponseCache
  readonly introspections: LastUsedRecorder<Look>
  readonly usageMode: UsageMode
}

/** Introspection responses (RFC 7662) about user group tokens and viewer sessions. */
export class Introspections {
  readonly #parts: IntrospectionParts

  constructor(parts: IntrospectionParts) {
    this.#parts = parts
  }

  /** Returns the response to a form, and notes the introspection. @throws Fault `validation_failed`, `unavailable` */
  async respond(scope: TenantScope, form: Buffer): Promise<string> {
    const { responses, introspections } = this.#parts
    const { json, look } = await responses.get('introspect', scope, form, () => this.#read(scope, form))
    if (look !== undefined) introspections.note(look)
    return json
  }

  async #read(scope: TenantScope, form: Buffer): Promise<CacheableResponse> {
    const { userGroups, viewerSessions } = this.#parts
    const { token, resource } = readIntrospectionForm(form)
    if (mayBeJwt(token)) {
      const session = await viewerSessions.introspect(scope, token, resource)
      const json = sessionIntrospectionResponse(session)
      if (session === null) return { json, ...inactive }
      const { state, claims } = session
      const look = this.#lookOf(scope, state, { viewerId: claims.viewer_id, resource })
      return { json, state, look, cacheUntil: claims.exp * 1000 }
    }
    const owner = await userGroups.introspect(scope, token)
    const json = introspectionResponse(owner)
    if (owner === null) return { json, ...inactive }
    const look = this.#lookOf(scope, owner.state, { viewerId: '', resource })
    // A grace period ends without a change of the user group.
    return { json, state: owner.state, look, cacheUntil: owner.validUntil === null ? Infinity : 0 }
  }

  #lookOf(
    scope: TenantScope,
    { location }: UserGroupState,
    { viewerId, resource }: { viewerId: string; resource: string | null },
  ): Look {
    return lookOf(this.#parts.usageMode, scope, location, { viewerId, resource: resource ?? '' })
  }
}

const inactive = { state: null, cacheUntil: 0 } as const
