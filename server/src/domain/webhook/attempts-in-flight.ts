import { FairPool } from '../util/fair-pool.ts'
import type { WebhookTarget } from './webhook-delivery-store.ts'

/** Maximum number of attempts in flight, which the workspaces share. */
export const maxInFlight = 1024
/** Maximum number of attempts in flight to an endpoint whose last attempt succeeded. Others have one. */
const maxInFlightOfEndpoint = 4
/** Places of a workspace that second attempts to an endpoint leave to first attempts to its other endpoints. */
const placesForFirst = 128

/** Returns the maximum number of attempts in flight to an endpoint. One that hangs or is new takes one place. */
export function maxInFlightOf({ isSucceeding }: Pick<WebhookTarget, 'isSucceeding'>): number {
  return isSucceeding ? maxInFlightOfEndpoint : 1
}

type Target = Pick<WebhookTarget, 'id' | 'workspaceId' | 'isSucceeding'>

/** The attempts that have not been recorded, by queue: endpoint and user group. Decides which further attempts may start. */
export class AttemptsInFlight {
  readonly #pool = new FairPool(maxInFlight)
  readonly #attempts = new Map<string, { readonly target: Target; readonly end: Promise<void> }>()
  readonly #countOf = new Map<number, number>()

  has(queue: string): boolean {
    return this.#attempts.has(queue)
  }

  countOf(endpointId: number): number {
    return this.#countOf.get(endpointId) ?? 0
  }

  /** Returns whether another attempt to an endpoint may start. */
  mayStart(target: Target): boolean {
    const count = this.countOf(target.id)
    const share = this.#pool.shareOf(target.workspaceId)
    return count === 0 ? share.fits() : count < maxInFlightOf(target) && share.fits(1 + placesForFirst)
  }

  add(queue: string, target: Target, end: Promise<void>): void {
    this.#pool.shareOf(target.workspaceId).take()
    this.#countOf.set(target.id, this.countOf(target.id) + 1)
    this.#attempts.set(queue, { target, end })
  }

  delete(queue: string): void {
    const attempt = this.#attempts.get(queue)
    if (attempt === undefined) return
    const { id, workspaceId } = attempt.target
    this.#attempts.delete(queue)
    this.#pool.shareOf(workspaceId).release()
    const count = this.countOf(id) - 1
    if (count > 0) this.#countOf.set(id, count)
    else this.#countOf.delete(id)
  }

  /** Resolves when all attempts have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#attempts.values()].map(({ end }) => end))
  }
}
