import type { Actor } from './audit/audit-event.ts'
import type { TenantScope } from './tenant-scope.ts'

/** The actor of a change and the scope that confines it. */
export interface Caller extends TenantScope, Actor {}

export function actorOf({ author, requestId }: Caller): Actor {
  return { author, requestId }
}
