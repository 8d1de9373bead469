import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from './caller.ts'
import type { RecordedRequest } from './ledger.ts'

const soloClients = 16
const crowds = 2
const crowdSize = 4
/** Number of 503 responses after which a client gives up, because the service does not recover. */
const maxAttempts = 10

interface Group {
  readonly id: string
  token: string
  /** The last request sent. */
  revision: number
}

/**
 * Clients that send requests to random services without a pause. A solo client has its own user groups. The clients of a crowd all
 * send the same requests at once.
 */
export class Load {
  readonly #caller: Caller
  readonly #prefix: string
  readonly #pauseMs: number
  readonly #clients: Promise<void>[]
  #isStopped = false
  #isAbandoned = false
  #created = 0

  /** @param pauseMs pause before a client retries after a 503 */
  constructor(caller: Caller, prefix: string, pauseMs = 0) {
    this.#caller = caller
    this.#pauseMs = pauseMs
    this.#prefix = prefix
    this.#clients = [
      ...Array.from({ length: soloClients }, () => this.#runSolo()),
      ...Array.from({ length: crowds }, () => this.#runCrowd()),
    ]
  }

  /** Runs `work` under this load, and resolves when every client has received its last response. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      // The services may not recover, so the clients do not retry.
      this.#isAbandoned = true
      throw error
    } finally {
      this.#isStopped = true
      await Promise.all(this.#clients)
    }
  }

  async #runSolo(): Promise<void> {
    const groups: Group[] = []
    while (!this.#isStopped) {
      const group = groups[randomInt(groups.length + 1)]
      const dice = randomInt(100)
      if (group === undefined || dice < 15) {
        const id = this.#newId('solo')
        const { response } = await this.#untilDone(id, (service) => this.#caller.create(service, id))
        if (response !== undefined) groups.push({ id, token: response.token, revision: 0 })
      } else if (dice < 35) await this.#caller.read(this.#anyService(), group.id)
      else if (dice < 60) await this.#caller.update(this.#anyService(), group.id, ++group.revision)
      else if (dice < 80) await this.#rotate(group)
      else await this.#rotateWithKey(group)
    }
  }

  async #rotate(group: Group): Promise<void> {
    const { id, token } = group
    const once = () => this.#caller.rotate(this.#anyService(), id, token, anyGrace())
    let request = await once()
    // Some clients retry anyway: the first attempt may have taken effect.
    if (isUnavailable(request) && randomInt(2) === 0) request = await once()
    if (request.outcome !== 'done') {
      request = await this.#untilDone(id, (service) => this.#caller.read(service, id))
    }
    if (request.response !== undefined) group.token = request.response.token
  }

  async #rotateWithKey(group: Group): Promise<void> {
    const { id, token } = group
    const key = randomUUID()
    const grace = anyGrace()
    let attempts = 0
    const same = (service: number) => {
      attempts++
      return this.#caller.rotate(service, id, token, grace, key)
    }
    let request = await this.#untilDone(id, same)
    // Every service must give the same response.
    if (attempts > 1 || randomInt(10) === 0) await this.#untilDone(id, same)
    // A rotation with an ambiguous response can take effect after a read that returned the old token.
    if (request.outcome === 'superseded') {
      request = await this.#untilDone(id, (service) => this.#caller.read(service, id))
    }
    if (request.response !== undefined) group.token = request.response.token
  }

  async #runCrowd(): Promise<void> {
    while (!this.#isStopped) {
      const id = this.#newId('crowd')
      const all = (does: (service: number) => Promise<RecordedRequest>) =>
        Promise.all(Array.from({ length: crowdSize }, (_, i) => does(i % this.#caller.services)))
      await all((service) => this.#caller.create(service, id))
      for (let rounds = 0; rounds < 3; rounds++) {
        const { response } = await this.#untilDone(id, (service) => this.#caller.create(service, id))
        if (response === undefined) break
        await all((service) => this.#caller.rotate(service, id, response.token, anyGrace()))
      }
    }
  }

  /** Retries a request while the response is 503. */
  async #untilDone(
    id: string,
    does: (service: number) => Promise<RecordedRequest>,
  ): Promise<RecordedRequest> {
    for (let attempts = 1; ; attempts++) {
      const request = await does(this.#anyService())
      if (!isUnavailable(request)) return request
      if (this.#isAbandoned) return request
      if (attempts === maxAttempts) {
        this.#caller.ledger.violations.push(`${request.kind} of ${id}: 503, ${maxAttempts} times`)
        return request
      }
      if (this.#pauseMs > 0) await sleep(this.#pauseMs)
    }
  }

  #newId(kind: string): string {
    return `${this.#prefix}${kind}-${++this.#created}`
  }

  #anyService(): number {
    return randomInt(this.#caller.services)
  }
}

function isUnavailable({ outcome }: RecordedRequest): boolean {
  return outcome === 'undone' || outcome === 'in doubt'
}

function anyGrace(): number {
  return randomInt(3) * 60
}
