import { Type } from 'typebox'
import { object } from '../../contract/schema.ts'
import { upToThirty } from '../../contract/patterns.ts'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { PositionedEvent } from '../../domain/event/event-store.ts'
import type { Fault } from '../../domain/fault.ts'

export const eventQuery = object({
  after: Type.Optional(
    Type.String({
      description: 'Position after which to begin. `Last-Event-ID` does the same, and comes first.',
    }),
  ),
  wait: Type.Optional(
    Type.String({
      description:
        'Long poll: respond with JSON as soon as there are events, or after this many seconds, 1 to 30.',
      pattern: upToThirty,
    }),
  ),
})

/** A request for events. */
export interface EventRequest {
  readonly apiToken: ApiToken
  /** Null begins with the next event. */
  readonly after: EventPosition | null
  /** Returns whether the API token may see an event. */
  readonly isVisible: (event: PositionedEvent) => boolean
  /**
   * Returns the fault of an API token that is revoked or has expired.
   * @param afterRevocation true to ask the store, because some API token was revoked
   */
  readonly faultOfToken: (afterRevocation: boolean) => Promise<Fault | null>
}

/** Returns whether an event says that an API token of its environment was revoked, perhaps the one of the connection. */
export function isRevocation({ type }: PositionedEvent): boolean {
  return type === 'api_token.revoked'
}
