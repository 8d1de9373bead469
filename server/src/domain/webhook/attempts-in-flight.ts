import { FairPool } from '../util/fair-pool.ts'
import type { WebhookTarget } from './webhook-delivery-store.ts'

/** Maximum number of attempts in flight, which the workspaces share. */
export const maxInFlight = 1024
/** Number of attempts in flight to an endpoint that has just begun to succeed, and its maximum. Others have one. */
const initialOfEndpoint = 4
const maxOfEndpoint = 64
/** An attempt that took this much longer than the fastest one had to wait for others, in milliseconds. */
const waitMs = 20
/** Places of a workspace that second attempts to an endpoint leave to first attempts to its other endpoints. */
const placesForFirst = 128

/** Limit of an endpoint, and the duration of its fastest attempt. */
interface Pace {
  limit: number
  fastestMs: number
}

type Target = Pick<WebhookTarget, 'id' | 'workspaceId' | 'isSucceeding'>

/** The attempts that have not been recorded, by queue: endpoint and user group. Decides which further attempts may start. */
export class AttemptsInFlight {
  readonly #pool = new FairPool(maxInFlight)
  readonly #attempts = new Map<string, { readonly target: Target; readonly end: Promise<void> }>()
  readonly #countOf = new Map<number, number>()
  /** By endpoint. */
  readonly #paces = new Map<number, Pace>()

  has(queue: string): boolean {
    return this.#attempts.has(queue)
  }

  countOf(endpointId: number): number {
    return this.#countOf.get(endpointId) ?? 0
  }

  /** Returns the maximum number of attempts in flight to an endpoint. One that hangs or is new takes one place. */
  limitOf({ id, isSucceeding }: Pick<Target, 'id' | 'isSucceeding'>): number {
    return isSucceeding ? (this.#paces.get(id)?.limit ?? initialOfEndpoint) : 1
  }

  /**
   * Adapts the limit of an endpoint to an attempt that has ended: more, up to 64, as long as attempts take about as long as the fastest
   * one, and fewer once they take twice as long, because then they wait in the receiver.
   * @param durationMs null if the attempt failed
   */
  note(endpointId: number, durationMs: number | null): void {
    if (durationMs === null) {
      this.#paces.delete(endpointId)
      return
    }
    const { limit, fastestMs } = this.#paces.get(endpointId) ?? {
      limit: initialOfEndpoint,
      fastestMs: durationMs,
    }
    const isSlower = durationMs > 2 * fastestMs + waitMs
    this.#paces.set(endpointId, {
      limit: isSlower ? Math.max(initialOfEndpoint, limit - 1) : Math.min(maxOfEndpoint, limit + 1),
      fastestMs: Math.min(fastestMs, durationMs),
    })
  }

  /** Returns whether another attempt to an endpoint may start. */
  mayStart(target: Target): boolean {
    const count = this.countOf(target.id)
    const share = this.#pool.shareOf(target.workspaceId)
    return count === 0 ? share.fits() : count < this.limitOf(target) && share.fits(1 + placesForFirst)
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
