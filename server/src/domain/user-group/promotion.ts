import type { Environment } from '../environment.ts'
import { Fault } from '../fault.ts'
import { jsonDiff, type JsonDifference } from '../json/json-diff.ts'
import type { Store } from '../store.ts'
import { contentValue, type UserGroup } from './user-group.ts'
import type { Caller, UpsertOutcome, UserGroupService } from './user-group-service.ts'

export interface PromotionResult {
  readonly providedId: string
  /** `refused`: the mapping names what is not registered in the environment that it would come to. */
  readonly outcome: UpsertOutcome | 'not_found' | 'refused'
  /** What is, or would be, different from before. */
  readonly differences: readonly JsonDifference[]
  /** Of the user group that was promoted; null where there is none, or none yet. */
  readonly teamId: number | null
  /** Why it was refused. */
  readonly message: string | null
}

const from: Environment = 'Testing'
const to: Environment = 'Customer'

/** Brings user groups from `Testing` to `Customer`: name, mapping and properties. A token is made fresh, or stays. */
export class Promotion {
  readonly #store: Store
  readonly #userGroups: UserGroupService

  constructor(parts: { store: Store; userGroups: UserGroupService }) {
    this.#store = parts.store
    this.#userGroups = parts.userGroups
  }

  /**
   * One after another; what one is refused for does not stop the others. A dry run changes nothing and says the same.
   * @throws Fault `forbidden` (the caller is not of `Customer`), `unavailable`
   */
  async promote(
    caller: Caller,
    providedIds: readonly string[],
    isDryRun: boolean,
  ): Promise<PromotionResult[]> {
    if (caller.environment !== to) {
      throw new Fault(
        'forbidden',
        `What goes to ${to} is decided there: use an API token of the environment ${to}`,
      )
    }
    const results: PromotionResult[] = []
    for (const providedId of providedIds) results.push(await this.#promoteOne(caller, providedId, isDryRun))
    return results
  }

  async #promoteOne(caller: Caller, providedId: string, isDryRun: boolean): Promise<PromotionResult> {
    const { workspaceId } = caller
    const find = (environment: Environment) =>
      this.#store.userGroups.find({ workspaceId, environment, providedId })
    const source = await find(from)
    const nothing = { providedId, differences: [], teamId: null, message: null }
    if (source === null) return { ...nothing, outcome: 'not_found' }
    const target = await find(to)
    const differences = differencesOf(target, source)
    const result = { ...nothing, differences, teamId: target?.teamId ?? null }
    const { name, mapping, properties } = source
    const content = { name, mapping, properties }
    try {
      if (isDryRun)
        return { ...result, outcome: await this.#userGroups.preview(caller, { providedId, change: content }) }
      const { outcome, userGroup } = await this.#userGroups.upsert(caller, providedId, content)
      return { ...result, outcome, teamId: userGroup.teamId }
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'validation_failed') throw error
      return { ...result, outcome: 'refused', message: error.message }
    }
  }
}

function differencesOf(target: UserGroup | null, source: UserGroup): JsonDifference[] {
  return jsonDiff(target === null ? {} : contentValue(target), contentValue(source))
}
