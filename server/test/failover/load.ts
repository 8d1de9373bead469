import { randomInt, randomUUID } from 'node:crypto'
import type { Caller } from './caller.ts'
import type { AuthorizedRequest } from './ledger.ts'

const soloClients = 16
const crowds = 2
const crowdSize = 4
/** Number of 503 responses after which a client gives up, because the service does not recover. */
const maxTries = 10

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
  readonly #clients: Promise<void>[]
  #isStopped = false
  #isAbandoned = false
  #made = 0

  constructor(caller: Caller, prefix: string) {
    this.#caller = caller
    this.#prefix = prefix
    this.#clients = [
      ...Array.from({ length: soloClients }, () => this.#runSolo()),
      ...Array.from({ length: crowds }, () => this.#runCrowd()),
    ]
  }

  /** Resolves when every client has received its last response. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#clients)
  }

  /** Same as `stop`, without retries. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await this.stop()
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
    let call = await once()
    // Some clients retry anyway: the first attempt may have taken effect.
    if (isUnavailable(call) && randomInt(2) === 0) call = await once()
    if (call.outcome !== 'done') {
      call = await this.#untilDone(id, (service) => this.#caller.read(service, id))
    }
    if (call.response !== undefined) group.token = call.response.token
  }

  async #rotateWithKey(group: Group): Promise<void> {
    const { id, token } = group
    const key = randomUUID()
    const grace = anyGrace()
    let tries = 0
    const same = (service: number) => {
      tries++
      return this.#caller.rotate(service, id, token, grace, key)
    }
    const { response } = await this.#untilDone(id, same)
    // Every service must give the same response.
    if (tries > 1 || randomInt(10) === 0) await this.#untilDone(id, same)
    if (response !== undefined) group.token = response.token
  }

  async #runCrowd(): Promise<void> {
    while (!this.#isStopped) {
      const id = this.#newId('crowd')
      const all = (does: (service: number) => Promise<AuthorizedRequest>) =>
        Promise.all(Array.from({ length: crowdSize }, (_, i) => does(i % this.#caller.services)))
      await all((service) => this.#caller.create(service, id))
      for (let turns = 0; turns < 3; turns++) {
        const { response } = await this.#untilDone(id, (service) => this.#caller.create(service, id))
        if (response === undefined) break
        await all((service) => this.#caller.rotate(service, id, response.token, anyGrace()))
      }
    }
  }

  /** Retries a request while the response is 503. */
  async #untilDone(
    id: string,
    does: (service: number) => Promise<AuthorizedRequest>,
  ): Promise<AuthorizedRequest> {
    for (let tries = 1; ; tries++) {
      const call = await does(this.#anyService())
      if (!isUnavailable(call)) {
        if (call.outcome !== 'done') this.#caller.ledger.violations.push(`${call.kind} of ${id}: refused`)
        return call
      }
      if (this.#isAbandoned) return call
      if (tries === maxTries) {
        this.#caller.ledger.violations.push(`${call.kind} of ${id}: 503, ${maxTries} times`)
        return call
      }
    }
  }

  #newId(kind: string): string {
    return `${this.#prefix}${kind}-${++this.#made}`
  }

  #anyService(): number {
    return randomInt(this.#caller.services)
  }
}

function isUnavailable({ outcome }: AuthorizedRequest): boolean {
  return outcome === 'undone' || outcome === 'in doubt'
}

function anyGrace(): number {
  return randomInt(3) * 60
}
