import { lookup as resolve } from 'node:dns/promises'
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

interface Address {
  readonly address: string
  readonly family: number
}

export interface WebhookSenderOptions extends WebhookAddressRules {
  /** Replaces the resolver of the system in tests. */
  readonly resolveHost?: (host: string) => Promise<readonly Address[]>
  /** Certificate authorities in PEM, instead of those of Node.js. */
  readonly ca?: string
  /** All times are in milliseconds. */
  readonly timeouts?: { readonly connect: number; readonly response: number }
}

/** A receiver that responds later should put its work into a queue. */
const defaultTimeouts = { connect: 5000, response: 10_000 }
/** Number of bytes of a response that are read, to use the connection again. */
const maxResponseBytes = 65_536

/** Sends webhooks. Redirects are not followed. */
export class WebhookSender {
  readonly #rules: WebhookAddressRules
  readonly #responseMs: number
  readonly #agent: Agent

  constructor({ resolveHost, ca, timeouts = defaultTimeouts, ...rules }: WebhookSenderOptions) {
    this.#rules = rules
    this.#responseMs = timeouts.connect + timeouts.response
    this.#agent = new Agent({
      connect: {
        timeout: timeouts.connect,
        lookup: pinningLookup(rules, resolveHost ?? ((host) => resolve(host, { all: true }))),
        ...(ca !== undefined && { ca }),
      },
      headersTimeout: timeouts.response,
      bodyTimeout: timeouts.response,
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
      await response.body.dump({ limit: maxResponseBytes }).catch(() => undefined)
      return { status: response.statusCode, errorCode: null }
    } catch (error) {
      return { status: null, errorCode: codeOf(error) }
    }
  }

  close(): Promise<void> {
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
function pinningLookup(
  rules: WebhookAddressRules,
  resolveHost: (host: string) => Promise<readonly Address[]>,
): LookupFunction {
  // Simultaneous connections share one: the system resolves few names at a time, also those of database servers.
  const running = new Map<string, Promise<readonly Address[]>>()
  const resolveShared = (host: string) => {
    const resolution = running.get(host) ?? resolveHost(host).finally(() => running.delete(host))
    running.set(host, resolution)
    return resolution
  }
  return (host, { all }, callback) => {
    resolveShared(host).then(
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
