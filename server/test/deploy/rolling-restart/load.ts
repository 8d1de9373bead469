import { randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Pause between two requests, in milliseconds, of busy clients and of clients with an idle connection. */
const busyPauseMs = [0, 20] as const
const idlePauseMs = [500, 2500] as const
/** Time limit of a request, in milliseconds. A slower one counts as lost. */
const hangMs = 30_000

export interface Sample {
  readonly operation: 'create' | 'read' | 'update' | 'rotate'
  /** Time of sending, by `performance.now()`. */
  readonly sentAt: number
  readonly tookMs: number
  /** Reason why the request counts as lost, or undefined after the expected response. */
  readonly failure: string | undefined
}

interface Group {
  readonly id: string
  token: string
  revision: number
}

interface Success {
  readonly new_user_group?: boolean
  readonly user_group: { readonly token: string; readonly properties?: { readonly revision: number } }
}

/**
 * Clients that send requests over one persistent connection each, without retries. Each has its own user groups and knows the
 * expected responses, so it also detects an acknowledged change that is lost.
 */
export class Load {
  readonly samples: Sample[] = []
  readonly #origin: string
  readonly #apiToken: string
  readonly #clients: Promise<void>[]
  #isStopped = false

  constructor(origin: string, apiToken: string, { busy, idle }: { busy: number; idle: number }) {
    this.#origin = origin
    this.#apiToken = apiToken
    this.#clients = [
      ...Array.from({ length: busy }, (_, i) => this.#run(`busy-${i}`, busyPauseMs)),
      ...Array.from({ length: idle }, (_, i) => this.#run(`idle-${i}`, idlePauseMs)),
    ]
  }

  /** Resolves when every client has received its last response. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#clients)
  }

  async #run(name: string, [shortest, longest]: readonly [number, number]): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    let group: Group | undefined
    for (let round = 0; !this.#isStopped; round++) {
      // Changes to a new user group after twenty requests per operation, so that there are creations throughout.
      group = await (group === undefined || round % 20 === 0
        ? this.#create(agent, `${name}-${round}`)
        : this.#use(agent, group))
      await sleep(randomInt(shortest, longest + 1))
    }
    agent.destroy()
  }

  async #create(agent: Agent, id: string): Promise<Group | undefined> {
    const body = { user_group_id: id, name: id, properties: { revision: 0 } }
    const response = await this.#measure(
      agent,
      'create',
      'GET',
      body,
      ({ new_user_group }) => new_user_group === true,
    )
    return response && { id, token: response.user_group.token, revision: 0 }
  }

  /** After a failure the state is unknown, so the client changes to a new user group. */
  async #use(agent: Agent, { id, token, revision }: Group): Promise<Group | undefined> {
    const isSame = ({ user_group }: Success, revision: number) =>
      user_group.token === token && user_group.properties?.revision === revision
    const dice = randomInt(4)
    if (dice === 0) {
      const rotated = await this.#measure(
        agent,
        'rotate',
        'POST',
        { current_token: token },
        ({ user_group }) => user_group.token !== token,
      )
      return rotated && { id, token: rotated.user_group.token, revision }
    }
    if (dice === 1) {
      const next = revision + 1
      const body = { user_group_id: id, properties: { revision: next } }
      const updated = await this.#measure(agent, 'update', 'PUT', body, (response) => isSame(response, next))
      return updated && { id, token, revision: next }
    }
    const read = await this.#measure(agent, 'read', 'GET', { user_group_id: id }, (response) =>
      isSame(response, revision),
    )
    return read && { id, token, revision }
  }

  async #measure(
    agent: Agent,
    operation: Sample['operation'],
    method: string,
    body: unknown,
    isRight: (response: Success) => boolean,
  ): Promise<Success | undefined> {
    const sentAt = performance.now()
    let response: Success | undefined
    let failure: string | undefined
    try {
      const { status, text } = await this.#send(agent, method, JSON.stringify(body))
      if (status !== 200) failure = `${status} ${JSON.stringify(text.slice(0, 200))}`
      else {
        response = JSON.parse(text) as Success
        if (!isRight(response)) failure = 'the response differs from the acknowledged state'
      }
    } catch (error) {
      failure = (error as NodeJS.ErrnoException).code ?? String(error)
    }
    this.samples.push({ operation, sentAt, tookMs: performance.now() - sentAt, failure })
    return failure === undefined ? response : undefined
  }

  #send(agent: Agent, method: string, body: string): Promise<{ status: number; text: string }> {
    const headers = {
      authorization: `Token ${this.#apiToken}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    return new Promise((resolve, reject) => {
      const url = `${this.#origin}/api/user`
      request(url, { method, agent, headers, signal: AbortSignal.timeout(hangMs) }, (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        incoming.on('error', reject)
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
      })
        .on('error', reject)
        .end(body)
    })
  }
}
