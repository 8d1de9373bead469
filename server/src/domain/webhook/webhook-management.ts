import { newEventId } from '../audit/audit-event.ts'
import type { EventType } from '../event/event.ts'
import { Fault, validationFailed } from '../fault.ts'
import { DecryptionError, type Keyring, type Sealed } from '../secret-key/keyring.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Caller } from '../caller.ts'
import type { SecretKeyRetired } from '../user-group/user-group-store.ts'
import type { Clock } from '../util/clock.ts'
import { FairPool } from '../util/fair-pool.ts'
import { findUrlProblem, type WebhookAddressRules } from './webhook-address.ts'
import {
  isSuccess,
  type AttemptResult,
  type DeliveryState,
  type WebhookDelivery,
  type WebhookDeliveryDetails,
} from './webhook-delivery.ts'
import type { Redeliver, WebhookTarget } from './webhook-delivery-store.ts'
import type { SendWebhook } from './webhook-dispatcher.ts'
import { generateWebhookSecret, secretContext, type WebhookEndpoint } from './webhook-endpoint.ts'
import { signedHeaders } from './webhook-signature.ts'
import type { EndpointRefused, TooManySecrets, WebhookEndpointHealth } from './webhook-endpoint-store.ts'

/** Type of test events. It is not in the feed. */
const testEventType = 'webhook_endpoint.test'
/** Maximum number of test events in flight, which the workspaces share. */
const maxTests = 32
/** Time in which a receiver must respond to a test event, in milliseconds. */
const testMs = 10_000

/** An endpoint with its new secret, which is shown only once. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpointHealth
  readonly secret: string
}

export interface WebhookEndpointFields {
  readonly name: string
  readonly url: string
  /** Empty for all types. */
  readonly eventTypes: readonly EventType[]
}

export interface WebhookEndpointChange extends Partial<WebhookEndpointFields> {
  readonly state?: 'active' | 'paused'
}

/** A test event, and the response of its receiver. */
export interface WebhookTest {
  readonly isDelivered: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly durationMs: number
  readonly result: AttemptResult
}

export interface WebhookManagementDependencies {
  readonly store: Pick<Store, 'events' | 'webhookEndpoints' | 'webhookDeliveries'>
  readonly keyring: Keyring
  readonly clock: Clock
  /** Sends test events. */
  readonly send: SendWebhook
  readonly rules: WebhookAddressRules
  /** Maximum number of endpoints of a workspace. */
  readonly maxEndpoints: number
}

/**
 * Manages the webhook endpoints of a workspace and environment. All methods throw Fault `unavailable`, and `not_implemented` if the
 * store has no order of events (Citus).
 */
export class WebhookManagement {
  readonly #store: WebhookManagementDependencies['store']
  readonly #keyring: Keyring
  readonly #clock: Clock
  readonly #send: SendWebhook
  readonly #tests = new FairPool(maxTests)
  readonly #rules: WebhookAddressRules
  readonly #maxEndpoints: number

  constructor({ store, keyring, clock, send, rules, maxEndpoints }: WebhookManagementDependencies) {
    this.#store = store
    this.#keyring = keyring
    this.#clock = clock
    this.#send = send
    this.#rules = rules
    this.#maxEndpoints = maxEndpoints
  }

  async list(scope: TenantScope): Promise<WebhookEndpointHealth[]> {
    const endpoints = await this.#store.webhookEndpoints.list(scope)
    return endpoints.map((endpoint) => this.#withoutEndedOverlaps(endpoint))
  }

  /** @throws Fault `not_found` */
  async find(scope: TenantScope, id: number): Promise<WebhookEndpointHealth> {
    return this.#withoutEndedOverlaps((await this.#store.webhookEndpoints.find(scope, id)) ?? notFound())
  }

  /**
   * @param options `needsNewName`: refuses an endpoint whose name another one of the environment has
   * @throws Fault `validation_failed`, `limit_reached`, `already_exists`
   */
  async create(
    caller: Caller,
    fields: WebhookEndpointFields,
    { needsNewName = false } = {},
  ): Promise<EndpointWithSecret> {
    this.checkUrl(fields.url)
    // Read first, so that the endpoint receives every event that is written after it exists.
    const position = await this.#store.events.head()
    const secret = generateWebhookSecret()
    const created = await this.#store.webhookEndpoints.create({
      ...caller,
      ...fields,
      now: this.#clock.now(),
      position,
      sealSecret: this.#sealing(caller, secret),
      maxOfWorkspace: this.#maxEndpoints,
      needsNewName,
    })
    const health = {
      health: 'unknown',
      lastSuccessAt: null,
      failingSince: null,
      pending: 0,
      failing: 0,
      oldestEventId: null,
    } as const
    return { endpoint: { ...this.#checked(created), ...health, previousSecretsValidUntil: [] }, secret }
  }

  /** @throws Fault `not_found`, `validation_failed` */
  async update(caller: Caller, id: number, change: WebhookEndpointChange): Promise<WebhookEndpointHealth> {
    if (change.url !== undefined) this.checkUrl(change.url)
    const command = { ...caller, id, now: this.#clock.now(), change }
    if ((await this.#store.webhookEndpoints.update(command)) === null) notFound()
    return this.find(caller, id)
  }

  /** @throws Fault `not_found` */
  async delete(caller: Caller, id: number): Promise<void> {
    const isDeleted = await this.#store.webhookEndpoints.delete({ ...caller, id, now: this.#clock.now() })
    if (!isDeleted) notFound()
  }

  /**
   * Replaces the secret. The previous one signs too for `overlapMs`, and older ones until the ends of their own overlaps.
   * @throws Fault `not_found`, `limit_reached` (too many secrets sign; without an overlap, there is always room)
   */
  async rotateSecret(caller: Caller, id: number, overlapMs: number): Promise<EndpointWithSecret> {
    const secret = generateWebhookSecret()
    const now = this.#clock.now()
    const rotated = await this.#store.webhookEndpoints.rotateSecret({
      ...caller,
      id,
      now,
      overlapEndsAt: now + overlapMs,
      sealSecret: this.#sealing(caller, secret),
    })
    this.#checked(rotated ?? notFound())
    return { endpoint: await this.find(caller, id), secret }
  }

  /** Lists deliveries, newest first. @throws Fault `not_found` */
  async listDeliveries(
    scope: TenantScope,
    endpointId: number,
    page: { state: DeliveryState | null; beforeId: number | null; limit: number },
  ): Promise<WebhookDelivery[]> {
    const deliveries = await this.#store.webhookDeliveries.list({ ...scope, endpointId, ...page })
    if (deliveries.length === 0) await this.find(scope, endpointId)
    return deliveries
  }

  /** @throws Fault `not_found` */
  async findDelivery(scope: TenantScope, endpointId: number, id: number): Promise<WebhookDeliveryDetails> {
    return (await this.#store.webhookDeliveries.find({ ...scope, endpointId, id })) ?? notFound()
  }

  /**
   * Sends a test event to an endpoint, whatever its state and event types, and waits for the response. It is no delivery, so it
   * is not repeated and does not change the health of the endpoint.
   * @throws Fault `not_found`, `unavailable` (too many are in flight, or no secret can be decrypted)
   */
  async test(scope: TenantScope, id: number): Promise<WebhookTest> {
    await this.find(scope, id)
    const target = (await this.#store.webhookDeliveries.targets()).find((one) => one.id === id) ?? notFound()
    const share = this.#tests.shareOf(scope.workspaceId)
    if (!share.take())
      throw new Fault('unavailable', 'Too many test events are in flight. Retry when one has ended')
    try {
      return await this.#sendTest(target)
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      throw new Fault('unavailable', 'The test event cannot be signed at the moment', {
        reason: `SECRET_SEALED: ${error.message}`,
      })
    } finally {
      share.release()
    }
  }

  async #sendTest(target: WebhookTarget): Promise<WebhookTest> {
    const now = this.#clock.now()
    const started = this.#clock.monotonic()
    const body = JSON.stringify({ type: testEventType, timestamp: new Date(now).toISOString(), data: {} })
    const headers = signedHeaders({ id: newEventId(now), now, body }, target, this.#keyring)
    const result = await this.#send({ url: target.url, headers, body, timeoutMs: testMs })
    const durationMs = Math.round(this.#clock.monotonic() - started)
    return { isDelivered: isSuccess(result), headers, body, durationMs, result }
  }

  /** Attempts deliveries again, also those that were made, and returns how many. @throws Fault `not_found` */
  async redeliver(scope: TenantScope, endpointId: number, which: Redeliver['which']): Promise<number> {
    const command = { ...scope, endpointId, now: this.#clock.now(), which }
    const count = await this.#store.webhookDeliveries.redeliver(command)
    if (count === null || ('deliveryId' in which && count === 0)) notFound()
    return count
  }

  /** Returns the same for the same endpoint, so that the store recognizes what an earlier attempt has written. */
  #sealing(scope: TenantScope, secret: string) {
    const sealed = new Map<number, Sealed>()
    return (endpointId: number) => {
      const known = sealed.get(endpointId) ?? this.#keyring.seal(secret, secretContext(scope, endpointId))
      sealed.set(endpointId, known)
      return known
    }
  }

  #withoutEndedOverlaps(endpoint: WebhookEndpointHealth): WebhookEndpointHealth {
    const now = this.#clock.now()
    return {
      ...endpoint,
      previousSecretsValidUntil: endpoint.previousSecretsValidUntil.filter((end) => end > now),
    }
  }

  /** @throws Fault `unavailable`, `limit_reached` */
  #checked(outcome: WebhookEndpoint | SecretKeyRetired | EndpointRefused | TooManySecrets): WebhookEndpoint {
    if (!('outcome' in outcome)) return outcome
    switch (outcome.outcome) {
      case 'too_many_endpoints':
        throw new Fault(
          'limit_reached',
          `This workspace has ${this.#maxEndpoints} webhook endpoints or more. Delete some, or raise UGS_MAX_WEBHOOK_ENDPOINTS`,
        )
      case 'name_taken':
        throw new Fault('already_exists', 'Another webhook endpoint has this name')
      case 'too_many_secrets':
        throw new Fault(
          'limit_reached',
          `Too many replaced secrets sign too. Rotate again after ${new Date(outcome.until).toISOString()}, or without an overlap`,
        )
      case 'secret_key_retired':
        throw new Fault('unavailable', 'A webhook secret cannot be issued at the moment', {
          reason: `SECRET_KEY_RETIRED: the secret key "${outcome.keyId}", with which this process encrypts, is retired; give this process the secret keys that the others have`,
        })
    }
  }

  /** @throws Fault `validation_failed` */
  checkUrl(url: string): void {
    const problem = findUrlProblem(url, this.#rules)
    if (problem !== null) throw validationFailed([{ path: '/url', message: problem }])
  }
}

function notFound(): never {
  throw new Fault('not_found', 'Nothing with this id exists in this environment')
}
