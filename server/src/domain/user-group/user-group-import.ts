import { Fault, validationFailed } from '../fault.ts'
import { HashSet } from '../util/hash-set.ts'
import type { UserGroupChange } from './user-group.ts'
import type { Caller, UpsertOutcome, UserGroupService } from './user-group-service.ts'

/** One row of what is imported: what a user group is to be, or why it cannot be read. */
export interface ImportRow {
  /** On which line it starts, from 1. */
  readonly line: number
  /** Null where it could not be told. */
  readonly providedId: string | null
  readonly content: UserGroupChange | Fault
  /** In bytes. */
  readonly size: number
}

export interface ImportResult {
  readonly line: number
  readonly providedId: string | null
  readonly outcome: UpsertOutcome | 'refused'
  /** Why it was refused. */
  readonly fault: Fault | null
}

/** How many rows there were, in all and by what became of them. */
export type ImportSummary = Readonly<Record<'rows' | ImportResult['outcome'], number>>

/** How much goes to the store at once: enough for a statement or an fsync to serve many. */
const maxRows = 512
const maxBytes = 1024 * 1024
/** While the store works on these, the next is read. */
const maxBatches = 2

/** One import of user groups: each row as `GET /api/user` takes it. What a row is refused for does not stop the others. */
export class UserGroupImport {
  readonly #userGroups: UserGroupService
  readonly #caller: Caller
  readonly #isDryRun: boolean
  readonly #ids = new HashSet()
  readonly #summary = { rows: 0, created: 0, updated: 0, unchanged: 0, refused: 0 }

  constructor(userGroups: UserGroupService, caller: Caller, options: { isDryRun: boolean }) {
    this.#userGroups = userGroups
    this.#caller = caller
    this.#isDryRun = options.isDryRun
  }

  get summary(): ImportSummary {
    return this.#summary
  }

  /**
   * Some at a time, in the order of the rows.
   * @throws Fault `unavailable`: what came before is done, and the whole may be imported again
   */
  async *run(chunks: AsyncIterable<readonly ImportRow[]>): AsyncGenerator<readonly ImportResult[]> {
    let batch: ImportRow[] = []
    let bytes = 0
    const underWay: Promise<readonly ImportResult[]>[] = []
    const next = async () => this.#count((await underWay.shift()) ?? [])
    try {
      for await (const rows of chunks) {
        for (const row of rows) {
          batch.push(row)
          bytes += row.size
          if (batch.length < maxRows && bytes < maxBytes) continue
          if (underWay.length === maxBatches) yield await next()
          const results = this.#importBatch(batch)
          // It is awaited in its turn; what is read meanwhile may fail first.
          results.catch(() => undefined)
          underWay.push(results)
          batch = []
          bytes = 0
        }
      }
      underWay.push(this.#importBatch(batch))
      while (underWay.length > 0) yield await next()
    } finally {
      // Whatever it ends for, it ends with nothing under way.
      await Promise.allSettled(underWay)
    }
  }

  async #importBatch(rows: readonly ImportRow[]): Promise<readonly ImportResult[]> {
    const results = rows.map((row) => this.#refusalOf(row))
    const sent = rows.flatMap(({ providedId, content }, i) =>
      results[i] === null ? [{ providedId: providedId as string, change: content }] : [],
    )
    const outcomes = (await this.#upsert(sent, rows)).values()
    return rows.map(({ line, providedId }, i) => {
      const outcome = results[i] ?? (outcomes.next().value as UpsertOutcome | Fault)
      return outcome instanceof Fault
        ? { line, providedId, outcome: 'refused', fault: outcome }
        : { line, providedId, outcome, fault: null }
    })
  }

  #refusalOf({ providedId, content }: ImportRow): Fault | null {
    if (content instanceof Fault) return content
    // Which of two rows is meant is not for the service to guess; importing both again would change the user group again.
    return this.#ids.add(providedId as string)
      ? null
      : validationFailed([{ path: '/user_group_id', message: 'is in an earlier row too' }])
  }

  async #upsert(
    sent: readonly { readonly providedId: string; readonly change: UserGroupChange }[],
    [first]: readonly ImportRow[],
  ): Promise<readonly (UpsertOutcome | Fault)[]> {
    try {
      return await (this.#isDryRun
        ? this.#userGroups.previewAll(this.#caller, sent)
        : this.#userGroups.upsertAll(this.#caller, sent))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const cure = this.#isDryRun
        ? 'nothing was changed'
        : `what stands before line ${first?.line} is imported, import the whole again to go on`
      throw new Fault(error.code, `${error.message}; ${cure}`, {
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
