import type { ConnectionSettings } from './options.ts'
import { readBounded, transportError, type Transport } from './transport.ts'

/**
 * For platforms without node:http. Cannot send a GET with a body.
 * @throws TypeError
 */
export function fetchTransport({ agent }: ConnectionSettings): Transport {
  if (agent !== undefined) throw new TypeError('agent must be omitted: only the Node.js build supports it')
  return async ({ method, url, headers, body, maxResponseBytes, onSent }, signal) => {
    const request = new Request(url, { method, headers, redirect: 'manual', signal, ...(body && { body }) })
    // fetch does not report when it sends.
    onSent()
    try {
      const response = await fetch(request)
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? '',
        retryAfter: response.headers.get('retry-after') ?? undefined,
        body: await readBounded(chunksOf(response.body), maxResponseBytes),
      }
    } catch (error) {
      throw transportError(error, url)
    }
  }
}

/** Iterates over a stream. Not all browsers can do so themselves. */
async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (stream === null) return
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
