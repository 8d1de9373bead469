import { Fault, validationFailed } from '../fault.ts'
import type { FairQueue } from '../util/fair-queue.ts'
import { HashSet } from '../util/hash-set.ts'
import type { UserGroupChange } from './user-group.ts'
import type { Caller } from '../caller.ts'
import type { UpsertOutcome, UserGroupService } from './user-group-service.ts'

/** One row of an import. */
export interface ImportRow {
  /** Number of its first line, from 1. */
  readonly line: number
  /** Null if it could not be read. */
  readonly providedId: string | null
  /** The user group's content, or the reason why the row is invalid. */
  readonly content: UserGroupChange | Fault
  /** In bytes. */
  readonly size: number
}

export interface ImportResult {
  readonly line: number
  readonly providedId: string | null
  readonly outcome: UpsertOutcome | 'refused'
  /** The reason of a refusal. */
  readonly fault: Fault | null
}

/** Number of rows, in total and by outcome. */
export type ImportSummary = Readonly<Record<'rows' | ImportResult['outcome'], number>>

/** Maximum size of a batch: large enough to share the cost of a statement. */
const maxRows = 32
const maxBytes = 256 * 1024
/** Limits of the number of rows in flight. The maximum keeps the store busy; other requests wait briefly for the minimum. */
const maxInFlight = 8 * maxRows
const minInFlight = 8

/** One import of user groups. Each row is a request for get-or-create; a refused row does not stop the others. */
export class UserGroupImport {
  readonly #userGroups: UserGroupService
  readonly #caller: Caller
  readonly #isDryRun: boolean
  readonly #countRequests: () => number
  readonly #turns: FairQueue | undefined
  readonly #ids = new HashSet()
  /** Number of rows that may be in flight: few while other requests arrive, which wait for them, and many otherwise. */
  #window = maxRows
  readonly #summary = { rows: 0, created: 0, updated: 0, unchanged: 0, refused: 0 }

  /**
   * `countRequests` returns the number of requests so far that the import should not delay. In `turns`, the workspaces of all imports
   * take turns.
   */
  constructor(
    userGroups: UserGroupService,
    caller: Caller,
    { isDryRun, countRequests, turns }: { isDryRun: boolean; countRequests: () => number; turns?: FairQueue },
  ) {
    this.#userGroups = userGroups
    this.#caller = caller
    this.#isDryRun = isDryRun
    this.#countRequests = countRequests
    this.#turns = turns
  }

  get summary(): ImportSummary {
    return this.#summary
  }

  /**
   * Imports the rows in batches and returns their results in order.
   * @throws Fault `unavailable`; earlier rows stay imported, and importing all rows again is safe
   */
  async *run(chunks: AsyncIterable<readonly ImportRow[]>): AsyncGenerator<readonly ImportResult[]> {
    let batch: ImportRow[] = []
    let bytes = 0
    const inFlight: Promise<readonly ImportResult[]>[] = []
    const next = async () => this.#count((await inFlight.shift()) ?? [])
    try {
      for await (const rows of chunks) {
        for (const row of rows) {
          batch.push(row)
          bytes += row.size
          if (batch.length < Math.min(maxRows, this.#window) && bytes < maxBytes) continue
          while (inFlight.length > 0 && (inFlight.length + 1) * maxRows > this.#window) yield await next()
          const results = this.#importBatch(batch)
          // The results are awaited later. Reading the next chunk may fail first, which must not leave an unhandled rejection.
          results.catch(() => undefined)
          inFlight.push(results)
          batch = []
          bytes = 0
        }
      }
      while (inFlight.length > 0) yield await next()
      if (batch.length > 0) yield this.#count(await this.#importBatch(batch))
    } finally {
      await Promise.allSettled(inFlight)
    }
  }

  async #importBatch(rows: readonly ImportRow[]): Promise<readonly ImportResult[]> {
    const results = rows.map((row) => this.#refusalOf(row))
    const sent = rows.flatMap(({ providedId, content }, i) =>
      results[i] === null ? [{ providedId: providedId as string, change: content }] : [],
    )
    const requests = this.#countRequests()
    const outcomes = (await this.#upsert(sent, rows)).values()
    this.#adjustWindow(this.#countRequests() - requests)
    return rows.map(({ line, providedId }, i) => {
      const outcome = results[i] ?? (outcomes.next().value as UpsertOutcome | Fault)
      return outcome instanceof Fault
        ? { line, providedId, outcome: 'refused', fault: outcome }
        : { line, providedId, outcome, fault: null }
    })
  }

  #adjustWindow(arrived: number): void {
    // One may be a health check.
    this.#window =
      arrived > 1
        ? Math.max(this.#window / 2, minInFlight)
        : Math.min(this.#window + minInFlight, maxInFlight)
  }

  #refusalOf({ providedId, content }: ImportRow): Fault | null {
    if (content instanceof Fault) return content
    // Refuse a second row with the same id. Otherwise, importing the file again would change the user group twice.
    return this.#ids.add(providedId as string)
      ? null
      : validationFailed([{ path: '/user_group_id', message: 'appears in an earlier row' }])
  }

  async #upsert(
    sent: readonly { readonly providedId: string; readonly change: UserGroupChange }[],
    [first]: readonly ImportRow[],
  ): Promise<readonly (UpsertOutcome | Fault)[]> {
    if (sent.length === 0) return []
    try {
      const upsert = () =>
        this.#isDryRun
          ? this.#userGroups.previewAll(this.#caller, sent)
          : this.#userGroups.upsertAll(this.#caller, sent)
      return await (this.#turns?.run(this.#caller.workspaceId, upsert) ?? upsert())
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const progress = this.#isDryRun
        ? 'nothing was changed'
        : `the rows before line ${first?.line} are imported; import the whole file again to continue`
      throw new Fault(error.code, `${error.message}; ${progress}`, {
        ...(error.reason !== undefined && { reason: error.reason }),
      })
    }
  }

  #count(results: readonly ImportResult[]): readonly ImportResult[] {
    this.#summary.rows += results.length
    for (const { outcome } of results) this.#summary[outcome]++
    return results
  }
}
