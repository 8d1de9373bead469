import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { HttpResponse } from './http.ts'

/** An import whose body is sent in parts. */
export class Upload {
  readonly #request: ClientRequest
  readonly #response: Promise<HttpResponse>

  constructor(
    origin: string,
    token: string,
    { path = '/admin/v1/user-groups/import', contentType = 'application/x-ndjson' } = {},
  ) {
    this.#request = request(origin + path, {
      ...{ method: 'POST', agent: false },
      headers: { authorization: `Token ${token}`, 'content-type': contentType },
    })
    this.#request.flushHeaders()
    this.#response = new Promise((resolve, reject) => {
      this.#request.on('error', reject)
      this.#request.on('response', (incoming) => void read(incoming).then(resolve, reject))
    })
    // The test may ignore the response.
    this.#response.catch(() => undefined)
  }

  /** Resolves when the whole response has arrived, also before the body has ended. */
  get response(): Promise<HttpResponse> {
    return this.#response
  }

  /** Resolves when the part is sent. */
  async send(part: string | Buffer): Promise<void> {
    if (!this.#request.write(part)) await once(this.#request, 'drain')
  }

  /** Ends the body and resolves with the response. */
  end(): Promise<HttpResponse> {
    this.#request.end()
    return this.#response
  }

  /** Ends the body. Resolves when the response has begun, and reads no further. */
  async endUnread(): Promise<void> {
    this.#request.removeAllListeners('response').end()
    const [incoming] = (await once(this.#request, 'response')) as [IncomingMessage]
    incoming.pause()
  }

  /** Ends the connection in the middle of the body. */
  async abandon(): Promise<void> {
    const closed = new Promise((resolve) => this.#request.once('close', resolve))
    this.#request.destroy()
    await closed
  }
}

async function read(incoming: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers as Record<string, string>,
    text,
    get body() {
      return JSON.parse(text) as unknown
    },
  }
}
