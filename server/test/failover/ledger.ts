/** Outcome of a request. A response that breaks the contract is a violation, and its effect is ambiguous. */
export type Outcome = 'done' | 'undone' | 'in doubt' | 'superseded'

/** One request as its client knows it. Times are in milliseconds of one clock. */
export interface RecordedRequest {
  readonly kind: 'create' | 'read' | 'update' | 'rotate'
  /** The `user_group_id`. */
  readonly id: string
  /** Index of the service. */
  readonly service: number
  /** Rotations only: the token to replace, its grace period, and the Idempotency-Key. */
  readonly from?: string | undefined
  readonly graceSeconds?: number | undefined
  readonly key?: string | undefined
  /** Creations and updates only: the number in the properties. */
  readonly revision?: number | undefined
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
  /** Acknowledged requests only. */
  readonly response?: RecordedResponse
}

export interface RecordedResponse {
  readonly token: string
  readonly isNew: boolean
  /** Undefined if the response has no properties. */
  readonly revision: number | undefined
}

interface Waiter {
  readonly condition: () => boolean
  readonly resolve: () => void
}

/** All requests of the clients, and the violations seen in single responses. */
export class Ledger {
  readonly requests: RecordedRequest[] = []
  readonly violations: string[] = []
  /** Time of the last acknowledged change, per service. */
  readonly changedAt: number[] = []
  acknowledged = 0
  #waiters: Waiter[] = []

  record(request: RecordedRequest): void {
    this.requests.push(request)
    if (request.outcome === 'done') {
      this.acknowledged++
      if (request.kind !== 'read') this.changedAt[request.service] = request.endedAt
    }
    const met = this.#waiters.filter(({ condition }) => condition())
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter))
    for (const { resolve } of met) resolve()
  }

  /** Resolves with true when the ledger meets the condition, or with false after the time limit. */
  async until(condition: () => boolean, boundMs: number): Promise<boolean> {
    if (condition()) return true
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), boundMs)
      this.#waiters.push({
        condition,
        resolve: () => {
          clearTimeout(timer)
          resolve(true)
        },
      })
    })
  }

  /** Returns a ledger for a copy of the database that was made between two times, with later requests left out. */
  asOf(from: number, to: number): Ledger {
    const ledger = new Ledger()
    for (const { response, ...request } of this.requests) {
      if (request.endedAt < from) ledger.record({ ...request, ...(response && { response }) })
      else if (request.startedAt < to) ledger.record({ ...request, outcome: 'in doubt' })
    }
    return ledger
  }

  /** Returns the requests for each user group, in the order in which they ended. */
  byId(): Map<string, RecordedRequest[]> {
    const groups = new Map<string, RecordedRequest[]>()
    for (const request of this.requests) {
      const requests = groups.get(request.id)
      if (requests === undefined) groups.set(request.id, [request])
      else requests.push(request)
    }
    return groups
  }
}
