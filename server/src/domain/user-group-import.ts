import { Fault, validationFailed } from './fault.ts'
import { TextSet } from './text-set.ts'
import type { UserGroupChange } from './user-group.ts'
import type { Caller, EnsureOutcome, UserGroupService } from './user-group-service.ts'

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
  readonly outcome: EnsureOutcome | 'refused'
  /** Why it was refused. */
  readonly fault: Fault | null
}

/** How many rows there were, in all and by what became of them. */
export type ImportSummary = Readonly<Record<'rows' | ImportResult['outcome'], number>>

/** How much is under way at once: enough for a store to work on many together, and no more than other calls can wait for. */
const maxRows = 256
const maxBytes = 4 * 1024 * 1024

/** What has a row be refused; anything else is no fault of the row, and ends the import. */
const rowFaults: readonly string[] = ['name_required', 'validation_failed']

/** One import of user groups: each row as `GET /api/user` takes it. What a row is refused for does not stop the others. */
export class UserGroupImport {
  readonly #userGroups: UserGroupService
  readonly #caller: Caller
  readonly #isDryRun: boolean
  readonly #ids = new TextSet()
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
   * In the order of the rows.
   * @throws Fault `unavailable`: what came before is done, and the whole may be imported again
   */
  async *run(rows: AsyncIterable<ImportRow>): AsyncGenerator<ImportResult> {
    const underWay: { readonly result: Promise<ImportResult>; readonly row: ImportRow }[] = []
    let bytes = 0
    const next = async (): Promise<ImportResult> => {
      const { result, row } = underWay.shift() as (typeof underWay)[number]
      bytes -= row.size
      return this.#count(await result)
    }
    for await (const row of rows) {
      const result = this.#importRow(row)
      // It is awaited in its turn, and one before it may end the import.
      result.catch(() => undefined)
      underWay.push({ result, row })
      bytes += row.size
      while (underWay.length >= maxRows || bytes > maxBytes) yield await next()
    }
    while (underWay.length > 0) yield await next()
  }

  async #importRow({ line, providedId, content }: ImportRow): Promise<ImportResult> {
    try {
      if (content instanceof Fault) throw content
      // Which of two rows is meant is not for the service to guess, and importing both again would change them again.
      if (!this.#ids.add(providedId as string)) throw idTwice()
      const [caller, id] = [this.#caller, providedId as string]
      const outcome = this.#isDryRun
        ? await this.#userGroups.preview(caller, id, content)
        : (await this.#userGroups.ensure(caller, id, content)).outcome
      return { line, providedId, outcome, fault: null }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      if (error === content || rowFaults.includes(error.code))
        return { line, providedId, outcome: 'refused', fault: error }
      throw new Fault(
        error.code,
        `${error.message}. The import stopped at line ${line}: what came before is done; import the whole again to go on`,
        { ...(error.reason !== undefined && { reason: error.reason }) },
      )
    }
  }

  #count(result: ImportResult): ImportResult {
    this.#summary.rows++
    this.#summary[result.outcome]++
    return result
  }
}

function idTwice(): Fault {
  return validationFailed([{ path: '/user_group_id', message: 'is in an earlier row too' }])
}
