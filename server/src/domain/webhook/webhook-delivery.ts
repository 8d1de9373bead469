import type { EventType } from '../event/event.ts'
import type { JsonText } from '../json/json-text.ts'

/** `pending`: not attempted yet. `failing`: the last attempt failed and another one follows. */
export const deliveryStates = ['pending', 'failing', 'delivered'] as const

export type DeliveryState = (typeof deliveryStates)[number]

/** The delivery of one event to one endpoint. All times are in milliseconds since the Unix epoch. */
export interface WebhookDelivery {
  /** Increases in the order of the events. */
  readonly id: number
  readonly endpointId: number
  readonly eventId: string
  readonly eventType: EventType
  /** Null for an event that concerns no user group. */
  readonly teamId: number | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly lastAttemptAt: number | null
  /** Null if the delivery waits for an earlier one of the same user group, or was made. */
  readonly nextAttemptAt: number | null
  /** Status of the last response; null if there was none. */
  readonly responseStatus: number | null
  /** Duration of the last attempt, in milliseconds. */
  readonly durationMs: number | null
  /** Reason why the last attempt got no response, such as `ECONNREFUSED`; null if it got one. */
  readonly errorCode: string | null
}

/** A delivery with the request and the head of the response of its last attempt. */
export interface WebhookDeliveryDetails extends WebhookDelivery {
  readonly body: string
  /** The header `webhook-signature`; null if there was no attempt, or no secret could be decrypted. */
  readonly signature: string | null
  /** Headers of the response as JSON text; null if there was none. */
  readonly responseHeaders: JsonText | null
}

/** Result of an attempt. `status` is null without a response, and `errorCode` then tells the reason. */
export interface AttemptResult {
  readonly status: number | null
  readonly errorCode: string | null
  /** Headers of the response (`responseHead`). */
  readonly responseHeaders?: JsonText
  /** Wait that the receiver asks for (`Retry-After`), in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** Only a 2xx is a success. Redirects are not followed. */
export function isSuccess({ status }: AttemptResult): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Returns whether a receiver wants nothing more (410 Gone, Standard Webhooks). */
export function isGone({ status }: AttemptResult): boolean {
  return status === 410
}
