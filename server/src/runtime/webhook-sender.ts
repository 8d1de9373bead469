import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import {
  findUrlProblem,
  isAllowedAddress,
  type WebhookAddressRules,
} from '../domain/webhook/webhook-address.ts'
import type { SendWebhook } from '../domain/webhook/webhook-dispatcher.ts'
import type { AttemptResult } from '../domain/webhook/webhook-delivery.ts'
import { version } from '../version.ts'
import { createResolver, type ResolveHost, type ResolverOptions } from './webhook-resolver.ts'

export interface WebhookSenderOptions extends WebhookAddressRules, ResolverOptions {
  /** Certificate authorities in PEM, instead of those of Node.js. */
  readonly ca?: string
  /** All times are in milliseconds. */
  readonly timeouts?: { readonly connect: number; readonly response: number; readonly body: number }
}

/** A receiver that responds later should put its work into a queue. */
const defaultTimeouts = { connect: 5000, response: 10_000, body: 1000 }
/** Number of bytes of a response that are read, to use the connection again. */
const maxResponseBytes = 65_536

/** Sends webhooks. Redirects are not followed. */
export class WebhookSender {
  readonly #rules: WebhookAddressRules
  readonly #responseMs: number
  readonly #bodyMs: number
  readonly #agent: Agent
  readonly #closing = new AbortController()

  constructor({ ca, timeouts = defaultTimeouts, ...options }: WebhookSenderOptions) {
    this.#rules = options
    this.#responseMs = timeouts.connect + timeouts.response
    this.#bodyMs = timeouts.body
    this.#agent = new Agent({
      connect: {
        timeout: timeouts.connect,
        lookup: pinningLookup(options, createResolver(options, this.#closing.signal)),
        ...(ca !== undefined && { ca }),
      },
      headersTimeout: timeouts.response,
      maxHeaderSize: 16_384,
      pipelining: 1,
    })
  }

  readonly send: SendWebhook = async ({ url, headers, body }, signal) => {
    // The settings may have changed since the endpoint was created. Addresses in URLs are not looked up.
    if (findUrlProblem(url, this.#rules) !== null) return refused
    try {
      const response = await request(url, {
        method: 'POST',
        headers: { ...headers, 'user-agent': `user-group-service/${version}` },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#responseMs)]),
      })
      // The status decides. A body that is too long, late or cut off costs only the connection.
      await response.body
        .dump({ limit: maxResponseBytes, signal: AbortSignal.timeout(this.#bodyMs) })
        .catch(() => undefined)
      return { status: response.statusCode, errorCode: null }
    } catch (error) {
      return { status: null, errorCode: codeOf(error) }
    }
  }

  close(): Promise<void> {
    this.#closing.abort()
    return this.#agent.destroy()
  }
}

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
  if (error instanceof Error && error.name === 'TimeoutError') return 'ETIMEDOUT'
  // Errors of the HTTP parser may have none.
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'INVALID_RESPONSE'
}
