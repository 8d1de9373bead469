import type { UserGroup } from './user-group.ts'

/** An introspection response. */
export interface Introspection {
  /** Null for an inactive token. */
  readonly userGroup: UserGroup | null
  /** `X-Event-Position`: the response considers everything up to this position of the event feed. */
  readonly position: string | null
  /** Time of the response by the service's clock (`Date`), in milliseconds since the Unix epoch. */
  readonly servedAt: number | null
}

export interface IntrospectionCache {
  get(token: string): UserGroup | undefined
  /**
   * Returns a function to call with the response.
   * @param resource the resource that the request names: a session that may show others is inactive, too
   */
  beginRequest(token: string, resource: string | undefined): (introspection: Introspection) => void
  invalidate(token: string): void
  close(): void
}
