import { createHmac } from 'node:crypto'
import { secretPrefix } from './webhook-endpoint.ts'

/** A message of Standard Webhooks 1.0. */
export interface WebhookMessage {
  /** The same for each attempt. */
  readonly id: string
  /** Time of the attempt, in milliseconds since the Unix epoch. */
  readonly now: number
  readonly body: string
}

/** Returns the headers of a message. Each secret signs, so that receivers can verify with any of them. */
export function signatureHeaders(
  { id, now, body }: WebhookMessage,
  secrets: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
