/** What is known of a call from its answer: an answer that is unlike what the contract says is a violation, and in doubt. */
export type Outcome = 'done' | 'undone' | 'in doubt' | 'superseded'

/** One call, and all that its client knows of it. Times are in milliseconds of one clock. */
export interface AuthorizedRequest {
  readonly kind: 'create' | 'read' | 'update' | 'rotate'
  /** The user group's. */
  readonly id: string
  /** Which of the services was called. */
  readonly service: number
  /** Of a rotation: the token to replace, and the Idempotency-Key. */
  readonly from?: string | undefined
  readonly key?: string | undefined
  /** Of a creation or an update: the number that it has the properties hold. */
  readonly revision?: number | undefined
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
  /** Of one that is done. */
  readonly response?: Answered
}

export interface Answered {
  readonly token: string
  readonly isNew: boolean
  /** Undefined where the answer has no properties. */
  readonly revision: number | undefined
}

interface Waiter {
  readonly condition: () => boolean
  readonly resolve: () => void
}

/** Every call that the clients made, whatever came of it, and what was wrong at first sight. */
export class Ledger {
  readonly calls: AuthorizedRequest[] = []
  readonly violations: string[] = []
  /** When each service last acknowledged a change. */
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

  /** Resolves with whether, within the time, the ledger comes to meet the condition. */
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

  /** The calls for each user group, in the order in which they ended. */
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
