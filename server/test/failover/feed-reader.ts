import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest } from '../support/http.ts'

const retryAfterMs = 50
/** Time after which the end of the feed is marked again, because a reset may have skipped the mark. */
const markAgainAfterMs = 5000

interface FedEvent {
  readonly type: string
  readonly data: { readonly provided_id: string; readonly revision: number }
}

/** The types of a user group's events in one feed, by revision. */
export type FedRevisions = ReadonlyMap<number, string>

/** Reads the event feed of one service like a renderer, across restarts of the service and of its database. */
export class FeedReader {
  readonly #origin: string
  readonly #apiToken: string
  readonly #byId = new Map<string, Map<number, string>>()
  readonly #reading: Promise<void>
  #position: string
  #isStopped = false
  /** Number of resets: events before the last one may be missing. */
  resets = 0

  private constructor(origin: string, apiToken: string, position: string) {
    this.#origin = origin
    this.#apiToken = apiToken
    this.#position = position
    this.#reading = this.#readOn()
  }

  /** Opens the feed of each service. @param services with an API token of the scope `admin` */
  static openAll({ origins, adminToken }: { origins: readonly string[]; adminToken: string }) {
    return Promise.all(
      origins.map(async (origin) => {
        const { position } = await poll(origin, adminToken, '')
        return new FeedReader(origin, adminToken, position)
      }),
    )
  }

  /** Reads up to the end of the feed. @param mark makes a change, and resolves with the id of its user group */
  async end(mark: () => Promise<string>): Promise<void> {
    for (let id = await mark(); !(await this.#reaches(id)); id = await mark());
    this.#isStopped = true
    await this.#reading
  }

  revisionsOf(id: string): FedRevisions {
    return this.#byId.get(id) ?? new Map<number, string>()
  }

  async #reaches(id: string): Promise<boolean> {
    const deadline = performance.now() + markAgainAfterMs
    while (!this.#byId.has(id)) {
      if (performance.now() > deadline) return false
      await sleep(retryAfterMs)
    }
    return true
  }

  async #readOn(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const { events, position } = await poll(this.#origin, this.#apiToken, this.#position)
        for (const event of events) this.#take(event)
        this.#position = position
      } catch {
        // The service or its database is down.
        await sleep(retryAfterMs)
      }
    }
  }

  #take({ type, data }: FedEvent): void {
    if (type === 'reset') {
      this.resets++
      this.#byId.clear()
      return
    }
    const revisions = this.#byId.get(data.provided_id) ?? new Map<number, string>()
    this.#byId.set(data.provided_id, revisions.set(data.revision, type))
  }
}

/** @throws Error if the service does not respond with 200 */
async function poll(origin: string, token: string, after: string) {
  const { status, body } = await sendRequest(origin, {
    path: `/events?wait=1${after === '' ? '' : `&after=${after}`}`,
    token,
    headers: { accept: 'application/json' },
  })
  if (status !== 200) throw new Error(`responded ${status}`)
  return body as { events: FedEvent[]; position: string }
}

/** Returns the events that a feed lacks or has in excess. After a reset it may begin with any revision. */
export function* checkFeed(
  fed: FedRevisions,
  { changes, rotations, resets }: { changes: number; rotations: number; resets: number },
): Generator<string> {
  const revisions = [...fed.keys()]
  const first = resets === 0 ? 1 : (revisions[0] ?? changes + 1)
  const expected = Array.from({ length: changes + 1 - first }, (_, i) => first + i)
  if (String(revisions) !== String(expected))
    yield `has ${changes} changes, and the feed has the revisions ${String(revisions)}`
  const fedRotations = [...fed.values()].filter((type) => type === 'user_group.token_rotated').length
  if (resets === 0 && fedRotations !== rotations)
    yield `has ${rotations} rotations, and the feed has ${fedRotations}`
}
