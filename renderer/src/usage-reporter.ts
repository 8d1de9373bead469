import type { Clock } from './clock.ts'
import type { poster } from './http.ts'
import type { UserGroup } from './user-group.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Interval of reports, in milliseconds. */
const intervalMs = 60_000
/** Maximum duration of a request, in milliseconds. */
const timeoutMs = 10_000
/** Maximum number of marks in a request. With the longest names, they fit into the 1 MiB that the service takes. */
const maxMarks = 300
/** Maximum numbers of marks in memory: of those to report, and of those that were reported today. */
const maxKept = 100_000
/** Maximum length of a name that is recorded, in code points. */
const maxLength = 255

/** A viewer looked at a resource on a day. */
interface Mark {
  readonly team_id: number
  readonly viewer_id: string
  readonly resource: string
  readonly day: string
}

export interface UsageReporterOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly post: ReturnType<typeof poster>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Reports results from a cache, which the service does not see: each viewer and resource once a day. The service records days, so that a
 * report after a lost response changes nothing.
 */
export class UsageReporter {
  readonly #options: UsageReporterOptions
  readonly #waiting = new Map<string, Mark>()
  readonly #reported = new Set<string>()
  #day = 0
  #dayText = ''
  #timer: NodeJS.Timeout | undefined

  constructor(options: UsageReporterOptions) {
    this.#options = options
  }

  note({ teamId, viewer }: UserGroup, requested = ''): void {
    const resource = recorded(requested)
    const day = Math.floor(this.#options.clock.now() / dayMs)
    if (day !== this.#day) this.#beginDay(day)
    const viewerId = viewer?.id ?? ''
    const key = `${day}/${teamId}/${viewerId}\0${resource}`
    if (this.#reported.has(key) || this.#waiting.has(key) || this.#waiting.size >= maxKept) return
    this.#waiting.set(key, { team_id: teamId, viewer_id: viewerId, resource, day: this.#dayText })
    // Does not keep the process running.
    this.#timer ??= setInterval(() => void this.report(), intervalMs).unref()
  }

  /** Sends the marks that wait. Those that could not be sent keep waiting. */
  async report(): Promise<void> {
    while (this.#waiting.size > 0) {
      const keys = firstOf(this.#waiting.keys(), maxMarks)
      const marks = keys.flatMap((key) => this.#waiting.get(key) ?? [])
      if (!(await this.#send(marks))) return
      for (const key of keys) {
        this.#waiting.delete(key)
        this.#reported.add(key)
      }
      if (this.#reported.size > maxKept) this.#reported.clear()
    }
  }

  /** Sends the marks that wait, and ends the reports. */
  close(): Promise<void> {
    clearInterval(this.#timer)
    return this.report()
  }

  #beginDay(day: number): void {
    this.#day = day
    this.#dayText = new Date(day * dayMs).toISOString().slice(0, 10)
    this.#reported.clear()
  }

  /** Returns false if another attempt may succeed. */
  async #send(marks: readonly Mark[]): Promise<boolean> {
    const { url, headers, post } = this.#options
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const body = JSON.stringify({ marks })
      const response = await post({ url, headers, signal, contentType: 'application/json', body })
      response.resume()
      return [200, 400, 404, 405, 413].includes(response.statusCode ?? 0)
    } catch {
      return false
    }
  }
}

/**
 * Returns the name by which the service records a resource. The text may come from a URL, and one that the service refuses would take all
 * marks of its request with it.
 */
function recorded(resource: string): string {
  const isTooLong = resource.length > maxLength && Array.from(resource).length > maxLength
  const isRefused = isTooLong || resource.includes('\0') || /\p{Surrogate}/u.test(resource)
  return isRefused ? '(more)' : resource
}

function firstOf<Item>(items: Iterable<Item>, count: number): Item[] {
  const first: Item[] = []
  for (const item of items) if (first.push(item) === count) break
  return first
}
