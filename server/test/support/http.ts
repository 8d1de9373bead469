import { request } from 'node:http'

export interface HttpResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  /** Parsed JSON. The tests assert its shape. */
  readonly body: any
}

export interface RequestOptions {
  readonly method?: string
  readonly path?: string
  readonly token?: string | undefined
  readonly headers?: Record<string, string>
  /** Sent as JSON. A string or bytes are sent unchanged. */
  readonly body?: unknown
}

/** Sends one request over a new connection. */
export function sendRequest(
  origin: string,
  { method = 'GET', path = '/api/user', token, headers = {}, body }: RequestOptions,
): Promise<HttpResponse> {
  const bytes =
    body === undefined
      ? undefined
      : typeof body === 'string' || Buffer.isBuffer(body)
        ? Buffer.from(body)
        : Buffer.from(JSON.stringify(body))
  return new Promise((resolve, reject) => {
    const outgoing = request(
      origin + path,
      {
        method,
        agent: false,
        headers: {
          ...(token !== undefined && { authorization: `Token ${token}` }),
          ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': bytes.length }),
          ...headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Record<string, string>,
            text,
            get body() {
              return JSON.parse(text) as unknown
            },
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}
