import { introspectionResponse, sessionIntrospectionResponse } from '../../contract/user/responses.ts'
import type { LastUsedRecorder } from '../../domain/api-token/last-used-tracker.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { IntrospectedUserGroup } from '../../domain/user-group/introspection-store.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import { mayBeJwt } from '../../domain/viewer-session/jwt.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import type { CacheableResponse, ResponseCache } from '../user/response-cache.ts'
import { readIntrospectionForm } from './oauth-clients.ts'

export interface IntrospectionParts {
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly responses: ResponseCache
  readonly introspections: LastUsedRecorder<IntrospectedUserGroup>
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
    const { json, state } = await responses.get('introspect', scope, form, () => this.#read(scope, form))
    if (state !== null) {
      const { bucket, teamId } = state.location
      introspections.note({ workspaceId: scope.workspaceId, bucket, teamId })
    }
    return json
  }

  async #read(scope: TenantScope, form: Buffer): Promise<CacheableResponse> {
    const { userGroups, viewerSessions } = this.#parts
    const { token, resource } = readIntrospectionForm(form)
    if (mayBeJwt(token)) {
      const session = await viewerSessions.introspect(scope, token, resource)
      const cacheUntil = session === null ? 0 : session.claims.exp * 1000
      return { json: sessionIntrospectionResponse(session), state: session?.state ?? null, cacheUntil }
    }
    const owner = await userGroups.introspect(scope, token)
    // A grace period ends without a change of the user group.
    const cacheUntil = owner?.validUntil === null ? Infinity : 0
    return { json: introspectionResponse(owner), state: owner?.state ?? null, cacheUntil }
  }
}
