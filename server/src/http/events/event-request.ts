import { Type } from 'typebox'
import { upToThirty } from '../../contract/patterns.ts'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { EventPosition } from '../../domain/event/event.ts'
import type { PositionedEvent } from '../../domain/event/event-store.ts'

export const eventQuery = Type.Object(
  {
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
  },
  { additionalProperties: false },
)

/** A request for events. */
export interface EventRequest {
  readonly apiToken: ApiToken
  /** Null begins with the next event. */
  readonly after: EventPosition | null
  /** Returns whether the API token may see an event. */
  readonly isVisible: (event: PositionedEvent) => boolean
}
