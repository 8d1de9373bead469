import { createHmac } from 'node:crypto'
import type { Keyring } from '../secret-key/keyring.ts'
import type { WebhookTarget } from './webhook-delivery-store.ts'
import { secretContext, secretPrefix } from './webhook-endpoint.ts'

/** A message of Standard Webhooks 1.0. */
export interface WebhookMessage {
  /** The same for each attempt. */
  readonly id: string
  /** Time of the attempt, in milliseconds since the Unix epoch. */
  readonly now: number
  readonly body: string
}

/** Returns the headers that the service sets, without those of the connection. Each secret signs, so that receivers can verify with any of them. */
export function signatureHeaders({ id, now, body }: WebhookMessage, secrets: readonly string[]) {
  const timestamp = timestampOf(now)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return messageHeaders({ id, now }, signatures.join(' '))
}

/** Returns the headers of a message that was signed. */
export function messageHeaders({ id, now }: Omit<WebhookMessage, 'body'>, signature: string) {
  return {
    'webhook-id': id,
    'webhook-timestamp': timestampOf(now),
    'webhook-signature': signature,
    'content-type': 'application/json',
  }
}

const timestampOf = (now: number) => String(Math.floor(now / 1000))

/** Signs a message to an endpoint. @throws DecryptionError */
export function signedHeaders(message: WebhookMessage, target: WebhookTarget, keyring: Keyring) {
  const secrets = target.secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > message.now)
    .map((secret) => keyring.open(secret, secretContext(target, target.id)))
  return signatureHeaders(message, secrets)
}
