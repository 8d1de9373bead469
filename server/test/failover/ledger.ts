/** Outcome of a request. A response that breaks the contract is a violation, and its effect is ambiguous. */
export type Outcome = 'done' | 'undone' | 'in doubt' | 'superseded'

/** One request as its client knows it. Times are in milliseconds of one clock. */
export interface AuthorizedRequest {
  readonly kind: 'create' | 'read' | 'update' | 'rotate'
  /** The `user_group_id`. */
  readonly id: string
  /** Index of the service. */
  readonly service: number
  /** Rotations only: the token to replace, and the Idempotency-Key. */
  readonly from?: string | undefined
  readonly key?: string | undefined
  /** Creations and updates only: the number in the properties. */
  readonly revision?: number | undefined
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
  /** Acknowledged requests only. */
  readonly response?: Answered
}

export interface Answered {
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
  readonly calls: AuthorizedRequest[] = []
  readonly violations: string[] = []
  /** Time of the last acknowledged change, per service. */
  readonly changedAt: number[] = []
  acknowledged = 0
  #waiters: Waiter[] = []

  record(call: AuthorizedRequest): void {
    this.calls.push(call)
    if (call.outcome === 'done') {
      this.acknowledged++
      if (call.kind !== 'read') this.changedAt[call.service] = call.endedAt
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

  /** Returns the requests for each user group, in the order in which they ended. */
  byId(): Map<string, AuthorizedRequest[]> {
    const groups = new Map<string, AuthorizedRequest[]>()
    for (const call of this.calls) {
      const calls = groups.get(call.id)
      if (calls === undefined) groups.set(call.id, [call])
      else calls.push(call)
    }
    return groups
  }
}
