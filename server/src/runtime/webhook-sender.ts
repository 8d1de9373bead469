import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Clock } from '../domain/util/clock.ts'
import {
  findUrlProblem,
  isAllowedAddress,
  type WebhookAddressRules,
} from '../domain/webhook/webhook-address.ts'
import { responseHead } from '../domain/webhook/response-head.ts'
import type { SendWebhook } from '../domain/webhook/webhook-dispatcher.ts'
import type { AttemptResult } from '../domain/webhook/webhook-delivery.ts'
import { version } from '../version.ts'
import { createResolver, type ResolveHost, type ResolverOptions } from './webhook-resolver.ts'

export interface WebhookSenderOptions extends WebhookAddressRules, ResolverOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Certificate authorities in PEM, instead of those of Node.js. */
  readonly ca?: string
  /** All times are in milliseconds. */
  readonly timeouts?: { readonly response: number; readonly body: number }
}

/** A receiver that responds later should put its work into a queue. */
const defaultTimeouts = { response: 15_000, body: 1000 }
/** Number of bytes of a response that are read, to use the connection again. */
const maxResponseBytes = 65_536
const maxHeaderSize = 16_384
/** Connections idle for longer are closed. */
const maxIdleMs = 4000

/** Sends webhooks. Redirects are not followed, and interim responses are skipped (RFC 9110, section 15.2). */
export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #timeouts: { readonly response: number; readonly body: number }
  readonly #lookup: LookupFunction
  readonly #agents: { readonly 'http:': HttpAgent; readonly 'https:': HttpAgent }
  readonly #closing = new AbortController()

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    this.#timeouts = options.timeouts ?? defaultTimeouts
    this.#lookup = pinningLookup(options, createResolver(options, this.#closing.signal))
    const keepAlive = { keepAlive: true, timeout: maxIdleMs }
    this.#agents = {
      'http:': new HttpAgent(keepAlive),
      'https:': new HttpsAgent({ ...keepAlive, ...(options.ca !== undefined && { ca: options.ca }) }),
    }
  }

  readonly send: SendWebhook = async (
    { url, headers, body, timeoutMs = this.#timeouts.response },
    signal = this.#closing.signal,
  ) => {
    // The settings may have changed since the endpoint was created. Addresses in URLs are not looked up.
    if (findUrlProblem(url, this.#options) !== null) return refused
    // Not AbortSignal.timeout: before Node.js 24, a combined signal does not keep it from garbage collection, which ends its timer.
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(timedOut), timeoutMs)
    try {
      const response = await this.#post(
        url,
        { ...headers, 'user-agent': `user-group-service/${version}` },
        body,
        AbortSignal.any([signal, this.#closing.signal, timeout.signal]),
      )
      await this.#drop(response)
      const { statusCode = null, headers: received } = response
      return {
        status: statusCode,
        errorCode: null,
        responseHeaders: responseHead(received),
        retryAfterMs: this.#retryAfterMs(received['retry-after']),
      }
    } catch (error) {
      return { status: null, errorCode: codeOf(error) }
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#closing.abort()
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  #post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { protocol } = new URL(url)
    const [request, agent] =
      protocol === 'https:' ? [requestHttps, this.#agents['https:']] : [requestHttp, this.#agents['http:']]
    return new Promise((resolve, reject) => {
      request(url, { method: 'POST', headers, agent, lookup: this.#lookup, maxHeaderSize, signal })
        .on('response', resolve)
        // Without a listener, the request would never end.
        .on('upgrade', (_response, socket) => {
          socket.destroy()
          reject(new Error('the receiver switched protocols'))
        })
        // Stays after the response: writing the rest may fail.
        .on('error', reject)
        .end(body)
    })
  }

  /** Reads the body of a response. The status decides: a body that is too long, late or cut off costs only the connection. */
  async #drop(response: IncomingMessage): Promise<void> {
    const timer = setTimeout(() => response.destroy(), this.#timeouts.body)
    let length = 0
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        length += chunk.length
        // Leaving the loop closes the connection.
        if (length > maxResponseBytes) break
      }
    } catch {
      // The connection is closed.
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns the wait that `Retry-After` asks for: a number of seconds or a date (RFC 9110, section 10.2.3). */
  #retryAfterMs(header: string | undefined): number | undefined {
    if (header === undefined) return undefined
    const ms = /^\d{1,9}$/.test(header)
      ? Number(header) * 1000
      : Date.parse(header) - this.#options.clock.now()
    return ms > 0 ? ms : undefined
  }
}

const timedOut = Object.assign(new Error('the receiver does not respond in time'), { code: 'ETIMEDOUT' })

const refused: AttemptResult = { status: null, errorCode: 'ADDRESS_REFUSED' }

class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'ADDRESS_REFUSED'
}

/**
 * Resolves the host of a connection. The connection is made to the addresses that were checked, so a second resolution cannot replace
 * them (DNS rebinding).
 */
function pinningLookup(rules: WebhookAddressRules, resolveHost: ResolveHost): LookupFunction {
  return (host, { all }, callback) => {
    resolveHost(host).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined || !addresses.every(({ address }) => isAllowedAddress(address, rules)))
          callback(new AddressRefusedError(`${host} has an address that is not allowed`), '')
        else if (all === true) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error as Error, ''),
    )
  }
}

/** Returns the code of an error without its message, which may have the URL. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (error instanceof Error && error.cause instanceof Error) return codeOf(error.cause)
  // Errors of the HTTP parser may have none.
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'INVALID_RESPONSE'
}
