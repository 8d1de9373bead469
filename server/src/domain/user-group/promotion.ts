import type { Environment } from '../environment.ts'
import { Fault } from '../fault.ts'
import { jsonDiff, type JsonDifference } from '../json/json-diff.ts'
import type { JsonText } from '../json/json-text.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { countUnresolved } from './user-group-health.ts'
import { contentValue, type TokenlessUserGroup, type UserGroup } from './user-group.ts'
import type { Caller } from '../caller.ts'
import type { UpsertOutcome, UserGroupService } from './user-group-service.ts'

type Ports = Pick<Store, 'dataSources' | 'userGroups'>

export interface PromotionResult {
  readonly providedId: string
  /** `refused`: the mapping names something that is not registered in `Customer`. */
  readonly outcome: UpsertOutcome | 'not_found' | 'refused'
  /** Differences between the user group in `Customer` before and after the promotion. */
  readonly differences: readonly JsonDifference[]
  /** The id of the user group in `Customer`; null if it does not exist. */
  readonly teamId: number | null
  /** The reason of a refusal. */
  readonly message: string | null
  /** A promotion changes neither. A user group that is new in `Customer` is active. */
  readonly suspended: { readonly inTesting: boolean; readonly inCustomer: boolean }
  /** Number of mapping entries that name no registered data source of `Customer`. */
  readonly unresolvedEntries: number
}

/** A user group that can be promoted. */
export interface PromotionCandidate extends TokenlessUserGroup {
  readonly unresolvedEntries: number
}

/** A result, and the mapping that was promoted. */
interface Promoted {
  readonly result: Omit<PromotionResult, 'unresolvedEntries'>
  readonly mapping: JsonText | null
}

const from: Environment = 'Testing'
const to: Environment = 'Customer'

/** Copies name, mapping and properties of user groups from `Testing` to `Customer`. Tokens are not copied. */
export class Promotion {
  readonly #store: Ports
  readonly #userGroups: UserGroupService

  constructor(parts: { store: Ports; userGroups: UserGroupService }) {
    this.#store = parts.store
    this.#userGroups = parts.userGroups
  }

  /**
   * Returns the environment from which the caller can promote.
   * @throws Fault `forbidden` (the caller's environment is not `Customer`)
   */
  sourceOf({ workspaceId, environment }: TenantScope): TenantScope {
    if (environment !== to) {
      throw new Fault('forbidden', `Promotion needs an API token of the environment ${to}`)
    }
    return { workspaceId, environment: from }
  }

  /**
   * Promotes user groups one after another. A refused one does not stop the others. A dry run returns the same results and
   * changes nothing.
   * @throws Fault `forbidden` (the caller's environment is not `Customer`), `unavailable`
   */
  async promote(
    caller: Caller,
    providedIds: readonly string[],
    isDryRun: boolean,
  ): Promise<PromotionResult[]> {
    this.sourceOf(caller)
    const promoted: Promoted[] = []
    for (const providedId of providedIds) promoted.push(await this.#promoteOne(caller, providedId, isDryRun))
    const counts = await countUnresolved(
      this.#store,
      caller,
      promoted.map(({ mapping }) => mapping),
    )
    return promoted.map(({ result }, i) => ({ ...result, unresolvedEntries: counts[i] ?? 0 }))
  }

  /** Describes what a promotion by the caller does with user groups of `Testing`. @throws Fault `unavailable` */
  async describe(
    caller: TenantScope,
    userGroups: readonly TokenlessUserGroup[],
  ): Promise<PromotionCandidate[]> {
    const counts = await countUnresolved(
      this.#store,
      caller,
      userGroups.map(({ mapping }) => mapping),
    )
    return userGroups.map((userGroup, i) => ({ ...userGroup, unresolvedEntries: counts[i] ?? 0 }))
  }

  async #promoteOne(caller: Caller, providedId: string, isDryRun: boolean): Promise<Promoted> {
    const { workspaceId } = caller
    const find = (environment: Environment) =>
      this.#store.userGroups.find({ workspaceId, environment, providedId })
    const source = await find(from)
    const noResult = { providedId, differences: [], teamId: null, message: null }
    if (source === null) {
      const suspended = { inTesting: false, inCustomer: false }
      return { mapping: null, result: { ...noResult, suspended, outcome: 'not_found' } }
    }
    const target = await find(to)
    const suspended = {
      inTesting: source.suspendedAt !== null,
      inCustomer: target !== null && target.suspendedAt !== null,
    }
    const differences = differencesOf(target, source)
    const { name, mapping, properties } = source
    const outcomeOf = (rest: Pick<PromotionResult, 'outcome'> & Partial<PromotionResult>): Promoted => ({
      mapping,
      result: { ...noResult, suspended, differences, teamId: target?.teamId ?? null, ...rest },
    })
    const content = { name, mapping, properties }
    try {
      if (isDryRun)
        return outcomeOf({ outcome: await this.#userGroups.preview(caller, { providedId, change: content }) })
      const { outcome, userGroup } = await this.#userGroups.upsert(caller, providedId, content)
      return outcomeOf({ outcome, teamId: userGroup.teamId })
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'validation_failed') throw error
      return outcomeOf({ outcome: 'refused', message: error.message })
    }
  }
}

function differencesOf(target: UserGroup | null, source: UserGroup): JsonDifference[] {
  return jsonDiff(target === null ? {} : contentValue(target), contentValue(source))
}
