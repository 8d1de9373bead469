import type { Caller } from '../caller.ts'
import { Fault, type FaultCode } from '../fault.ts'
import { jsonDiff } from '../json/json-diff.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Configuration, ConfigurationResult } from './configuration.ts'
import { sectionsOf, type Existing, type Section, type SectionParts } from './sections.ts'

/** Faults that refuse one object. Any other ends the change, and applying the configuration again continues it. */
const refusals: readonly FaultCode[] = [
  'already_exists',
  'in_use',
  'limit_reached',
  'not_found',
  'not_implemented',
  'token_superseded',
  'validation_failed',
]
/** Refusals that another change at the same time may cause. */
const conflicts: readonly FaultCode[] = ['already_exists', 'in_use', 'not_found', 'token_superseded']

export interface ApplyOptions {
  /** Returns what would happen, and changes nothing. */
  readonly isDryRun: boolean
  /** Deletes objects that a list of the configuration lacks. */
  readonly prunes: boolean
  /** Throws if the caller expects another configuration than the current one. */
  readonly check?: (current: Configuration) => void
}

/**
 * The configuration of a workspace and environment: schemas, data sources, webhook endpoints and API tokens. A change is one change of the
 * API for each object, so an interrupted one can be applied again.
 */
export class ConfigurationManagement {
  readonly #parts: SectionParts
  /** Last change by workspace and environment, until it ends. */
  readonly #changes = new Map<string, Promise<unknown>>()

  constructor(parts: SectionParts) {
    this.#parts = parts
  }

  /** Returns the configuration, each list ordered by key. @throws Fault `unavailable` */
  async export(scope: TenantScope): Promise<Configuration> {
    const sections = sectionsOf(this.#parts, { ...scope, author: 'service', requestId: null })
    const dataSources = groupsOf(await listed(sections.dataSources), ({ schema }) => schema)
    const schemas = (await listed(sections.schemas)).map((schema) => ({
      ...schema,
      dataSources: dataSources.get(schema.providedId) ?? [],
    }))
    const webhookEndpoints = await unlessMissing('not_implemented', listed(sections.webhookEndpoints))
    const apiTokens = await listed(sections.apiTokens)
    return { schemas, ...(webhookEndpoints && { webhookEndpoints }), apiTokens }
  }

  /**
   * Creates and updates the objects, then deletes others if asked to. Returns a result for each. What the API refuses is `refused`, and the
   * rest goes on. In one process, the changes of an environment run one after the other, so none comes between a check and its change.
   * @throws Fault `unavailable`, and what `check` throws
   */
  async apply(
    caller: Caller,
    configuration: Configuration,
    options: ApplyOptions,
  ): Promise<ConfigurationResult[]> {
    const place = `${caller.workspaceId}/${caller.environment}`
    const change = (this.#changes.get(place) ?? Promise.resolve()).then(() =>
      this.#apply(caller, configuration, options),
    )
    const end = change.catch(() => undefined)
    this.#changes.set(place, end)
    try {
      return await change
    } finally {
      if (this.#changes.get(place) === end) this.#changes.delete(place)
    }
  }

  async #apply(
    caller: Caller,
    configuration: Configuration,
    options: ApplyOptions,
  ): Promise<ConfigurationResult[]> {
    options.check?.(await this.export(caller))
    const { schemas, dataSources, webhookEndpoints, apiTokens } = sectionsOf(this.#parts, caller)
    const results = [
      ...(await write(schemas, configuration, options)),
      ...(await write(dataSources, configuration, options)),
      ...(await write(webhookEndpoints, configuration, options)),
      ...(await write(apiTokens, configuration, options)),
    ]
    if (!options.prunes) return results
    return [
      ...results,
      ...(await prune(apiTokens, configuration, options)),
      ...(await prune(webhookEndpoints, configuration, options)),
      ...(await prune(dataSources, configuration, options)),
      ...(await prune(schemas, configuration, options)),
    ]
  }
}

async function listed<Item>({ list, keyOf }: Section<Item>): Promise<(Item & Existing)[]> {
  return [...(await list())].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Creates and updates the wanted objects of a section. */
async function write<Item>(
  section: Section<Item>,
  configuration: Configuration,
  options: ApplyOptions,
): Promise<ConfigurationResult[]> {
  const { identityOf = section.keyOf } = section
  let existing: Map<string, (Item & Existing)[]> | undefined
  const results: ConfigurationResult[] = []
  for (const item of section.wanted(configuration) ?? []) {
    const result = await resultOf(section, item, async (isRepeated) => {
      if (existing === undefined || isRepeated) existing = groupsOf(await section.list(), identityOf)
      return changeOf(section, item, existing.get(identityOf(item)) ?? [], options)
    })
    results.push(result)
  }
  return results
}

/** The change of one object. */
interface Change extends Pick<ConfigurationResult, 'outcome' | 'differences'> {
  readonly make?: () => Promise<string | null>
}

function changeOf<Item>(
  section: Section<Item>,
  item: Item,
  [before, ...others]: readonly (Item & Existing)[],
  options: ApplyOptions,
): Change {
  if (before === undefined)
    return { outcome: 'created', differences: [], make: () => section.create(item, options) }
  if (others.length > 0)
    throw new Fault('limit_reached', `${others.length + 1} objects have this name; delete all but one`)
  const differences = jsonDiff(section.fieldsOf(before), section.fieldsOf(item))
  if (differences.length === 0) return { outcome: 'unchanged', differences }
  const make = async () => {
    await section.update(before, item, options)
    return null
  }
  return { outcome: 'updated', differences, make }
}

/** Deletes the objects of a section that the configuration lacks. */
async function prune<Item>(
  section: Section<Item>,
  configuration: Configuration,
  options: ApplyOptions,
): Promise<ConfigurationResult[]> {
  const wanted = section.wanted(configuration)
  if (wanted === undefined) return []
  const { identityOf = section.keyOf } = section
  const identities = new Set(wanted.map(identityOf))
  const results: ConfigurationResult[] = []
  for (const item of (await unlessMissing('not_implemented', listed(section))) ?? []) {
    if (identities.has(identityOf(item)) || section.isPruned?.(configuration, item) === false) continue
    const make = async () => {
      await unlessMissing('not_found', section.delete(item, options))
      return null
    }
    results.push(
      await resultOf(section, item, () => Promise.resolve({ outcome: 'deleted', differences: [], make })),
    )
  }
  return results
}

/** Returns undefined if there is no such thing: no such section in this store, or no such object any more. */
async function unlessMissing<Result>(
  code: 'not_found' | 'not_implemented',
  result: Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await result
  } catch (error) {
    if (error instanceof Fault && error.code === code) return undefined
    throw error
  }
}

/** Makes the change of one object, again if another change may have come in between. */
async function resultOf<Item>(
  { kind, keyOf }: Section<Item>,
  item: Item,
  plan: (isRepeated: boolean) => Promise<Change>,
): Promise<ConfigurationResult> {
  const key = keyOf(item)
  for (let isRepeated = false; ; isRepeated = true) {
    let change: Change | undefined
    try {
      change = await plan(isRepeated)
      const message = (await change.make?.()) ?? null
      return { kind, key, outcome: change.outcome, differences: change.differences, message }
    } catch (error) {
      if (!(error instanceof Fault) || !refusals.includes(error.code)) throw error
      if (!isRepeated && conflicts.includes(error.code)) continue
      return { kind, key, outcome: 'refused', differences: change?.differences ?? [], message: error.message }
    }
  }
}

function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    // Not a copy of the group for each item: a schema may have a data source for each customer.
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
