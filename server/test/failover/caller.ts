import { Pool } from 'undici'
import type { RecordedRequest, RecordedResponse, Ledger, Outcome } from './ledger.ts'

/** Time limit of a request, in milliseconds. A response in time takes much less. */
const hangMs = 20_000

type Sent = Pick<RecordedRequest, 'kind' | 'id' | 'from' | 'graceSeconds' | 'key' | 'revision'>

/**
 * Resolves when a killed service is running again; returns undefined for a service that was not killed. Without this function, a
 * failed request is a violation.
 */
export type WhenBack = (service: number) => Promise<void> | undefined

/** Sends requests to the services and records them in the ledger. */
export class Caller {
  readonly ledger: Ledger
  readonly #apiToken: string
  readonly #pools: readonly Pool[]
  readonly #whenBack: WhenBack | undefined

  constructor(origins: readonly string[], apiToken: string, ledger: Ledger, whenBack?: WhenBack) {
    this.ledger = ledger
    this.#apiToken = apiToken
    this.#whenBack = whenBack
    this.#pools = origins.map((origin) => new Pool(origin, { headersTimeout: hangMs, bodyTimeout: hangMs }))
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()))
  }

  get services(): number {
    return this.#pools.length
  }

  each<T>(ask: (service: number) => T): T[] {
    return this.#pools.map((_, service) => ask(service))
  }

  create(service: number, id: string): Promise<RecordedRequest> {
    const body = { user_group_id: id, name: id, properties: { revision: 0 } }
    return this.#send(service, 'GET', { kind: 'create', id, revision: 0 }, body)
  }

  read(service: number, id: string): Promise<RecordedRequest> {
    return this.#send(service, 'GET', { kind: 'read', id }, { user_group_id: id })
  }

  update(service: number, id: string, revision: number): Promise<RecordedRequest> {
    const body = { user_group_id: id, properties: { revision } }
    return this.#send(service, 'PUT', { kind: 'update', id, revision }, body)
  }

  rotate(
    service: number,
    id: string,
    from: string,
    graceSeconds: number,
    key?: string,
  ): Promise<RecordedRequest> {
    const body = { current_token: from, grace_period_seconds: graceSeconds }
    return this.#send(service, 'POST', { kind: 'rotate', id, from, graceSeconds, key }, body)
  }

  async #send(service: number, method: string, sent: Sent, body: object): Promise<RecordedRequest> {
    const pool = this.#pools[service] as Pool
    const startedAt = performance.now()
    let result: { outcome: Outcome; response?: RecordedResponse }
    let back: Promise<void> | undefined
    try {
      const {
        statusCode,
        headers,
        body: stream,
      } = await pool.request({
        method,
        path: '/api/user',
        headers: {
          authorization: `Token ${this.#apiToken}`,
          'content-type': 'application/json',
          ...(sent.key !== undefined && { 'idempotency-key': sent.key }),
        },
        body: JSON.stringify(body),
      })
      const text = await stream.text()
      result = this.#judge(sent, statusCode, headers['retry-after'], text)
    } catch (error) {
      back = this.#whenBack?.(service)
      // The service may have made the change.
      if (back !== undefined) result = { outcome: 'in doubt' }
      else result = this.#violation(sent, `the request failed: ${String(error)}`)
    }
    const request = { ...sent, service, startedAt, endedAt: performance.now(), ...result }
    this.ledger.record(request)
    await back
    return request
  }

  #judge(
    sent: Sent,
    status: number,
    retryAfter: unknown,
    text: string,
  ): { outcome: Outcome; response?: RecordedResponse } {
    const body = JSON.parse(text)
    if (status === 200) {
      const { token, properties, provided_id } = body.user_group
      if (provided_id !== sent.id) return this.#violation(sent, `the response is for another: ${provided_id}`)
      const response = { token, isNew: body.new_user_group === true, revision: properties?.revision }
      return { outcome: 'done', response }
    }
    const { code, message } = body.error
    if (status === 503 && code === 'unavailable' && retryAfter === '1') {
      // Only the message says that the request may have taken effect.
      return { outcome: message.includes('may have taken effect') ? 'in doubt' : 'undone' }
    }
    if (sent.kind === 'rotate' && status === 409 && code === 'token_superseded')
      return { outcome: 'superseded' }
    return this.#violation(sent, `responded ${status} ${text}`)
  }

  #violation({ kind, id }: Sent, title: string): { outcome: Outcome } {
    this.ledger.violations.push(`${kind} of ${id}: ${title}`)
    return { outcome: 'in doubt' }
  }
}
