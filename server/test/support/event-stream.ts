import assert from 'node:assert/strict'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { Scope } from './scope.ts'

/** One message of a stream of Server-Sent Events. */
export interface StreamMessage {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
  readonly comment: string | undefined
  readonly retry: string | undefined
}

export interface StreamRequest {
  readonly token?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A client of `GET /events`. */
export class EventStream {
  readonly response: IncomingMessage
  readonly #request: ClientRequest
  readonly #messages: StreamMessage[] = []
  #text = ''
  #rest = ''
  #isEnded = false
  #wake: () => void = () => undefined

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      this.#text += text
      this.#rest += text
      const parts = this.#rest.split('\n\n')
      this.#rest = parts.pop() ?? ''
      this.#messages.push(...parts.map(messageOf))
      this.#wake()
    })
    // A connection that breaks off ends the stream too.
    response.on('error', () => undefined)
    response.on('close', () => {
      this.#isEnded = true
      this.#wake()
    })
  }

  static async open(
    t: Scope,
    origin: string,
    { token, path = '/events', headers }: StreamRequest,
  ): Promise<EventStream> {
    const outgoing = request(origin + path, {
      agent: false,
      headers: { ...(token !== undefined && { authorization: `Token ${token}` }), ...headers },
    })
    outgoing.end()
    t.after(() => void outgoing.destroy())
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return new EventStream(outgoing, response)
  }

  /** Everything received so far. */
  get text(): string {
    return this.#text
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Resolves with the next message that has an event. */
  async next(): Promise<StreamMessage> {
    for (;;) {
      const message = this.#messages.shift()
      if (message?.event !== undefined) return message
      if (message === undefined) {
        assert.ok(!this.#isEnded, `the stream has ended after ${JSON.stringify(this.#text)}`)
        await this.#change()
      }
    }
  }

  /** Resolves with the next message that is no heartbeat. */
  async nextEvent(): Promise<StreamMessage> {
    for (;;) {
      const message = await this.next()
      if (message.event !== 'heartbeat') return message
    }
  }

  /** Resolves with the next heartbeat. */
  async nextHeartbeat(): Promise<StreamMessage> {
    for (;;) {
      const message = await this.next()
      if (message.event === 'heartbeat') return message
    }
  }

  /** Resolves when the stream has ended. */
  async ended(): Promise<void> {
    while (!this.#isEnded) await this.#change()
  }

  close(): void {
    this.#request.destroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }
}

function messageOf(text: string): StreamMessage {
  const fields = new Map(
    text.split('\n').map((line) => {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [undefined, line, '']
      return [name === '' ? 'comment' : name, value]
    }),
  )
  const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
  return { id, event, data, comment: fields.get('comment'), retry: fields.get('retry') }
}
