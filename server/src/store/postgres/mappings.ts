import {
  isRegistered,
  mappingEntries,
  refusedEntries,
  type MappingEntry,
  type MappingMode,
  type MappingToCheck,
  type RegisteredEntry,
  type ResolvedEntry,
} from '../../domain/data-source/data-source.ts'
import { Cache } from '../../domain/util/cache.ts'
import type { JsonText } from '../../domain/json/json-text.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { RefusedMapping } from '../../domain/user-group/user-group-store.ts'
import { ResolvedMappings } from '../resolved-mappings.ts'
import type { Coalescer } from './coalescer.ts'
import type { PrimaryPool } from './primary-pool.ts'
import type { Attempt } from './retry.ts'
import type { Bucketed, ScopedCoalescers } from './scoped-coalescer.ts'
import { resolveEntry, type EntryRow, type TokenRow } from './user-group-sql.ts'

/** Schemas and data sources are in no bucket, so all mappings have the same one here. */
interface MappingToResolve extends Bucketed {
  readonly mapping: JsonText
}

interface ResolvedMapping {
  readonly entries: readonly ResolvedEntry[]
  /** Version of the registry by which the entries were resolved; null if there are no entries. */
  readonly registryVersion: string | null
}

/** Result of checking a mapping. A write of the mapping holds only while the registry has the same version. */
export interface CheckedMapping {
  readonly refusal: RefusedMapping | null
  readonly registryVersion: string | null
}

const notChecked: CheckedMapping = { refusal: null, registryVersion: null }

/** Version of the registry of a workspace and environment in which no schema was ever registered. */
const noRegistry = ''

/** Looks up what the entries of mappings name. */
export class Mappings {
  readonly #primary: PrimaryPool
  readonly #resolving: Coalescer<MappingToResolve, ResolvedMapping>
  readonly #resolvedMappings = new ResolvedMappings()
  /** The last version that a statement read, of each workspace and environment. Another process may have changed it. */
  readonly #lastVersions = new Cache<string>(10_000)
  /** Ids of the schemas that keys of mappings name in a version; null if there is none. Weights are in characters. */
  readonly #schemaIds = new Cache<number | null>(500_000, (key) => key.length)

  constructor(primary: PrimaryPool, coalescers: ScopedCoalescers) {
    this.#primary = primary
    this.#resolving = coalescers.reading<MappingToResolve, ResolvedMapping>({
      kind: 'resolve_mapping',
      keysOf: ({ mapping }) => [mapping],
      weightOf: ({ mapping }) => mapping.length,
      run: ([workspaceId, environment], items) =>
        this.#resolveAll(
          { workspaceId, environment },
          items.map(({ mapping }) => mapping),
        ),
    })
  }

  /** Resolves entries in one statement, in their order. */
  async resolveEntries(
    { workspaceId, environment }: TenantScope,
    entries: readonly MappingEntry[],
  ): Promise<ResolvedMapping> {
    // No provided id is empty, and PostgreSQL's text cannot hold U+0000.
    const lookupText = (text: string) => (text.includes('\0') ? '' : text)
    const rows = await this.#primary.query(resolveEntry, [
      workspaceId,
      environment,
      entries.map(([schemaKey]) => lookupText(schemaKey)),
      entries.map(([, key]) => lookupText(key)),
    ])
    const found = new Map(rows.map((row) => [row.position, row]))
    return {
      entries: entries.map(([schemaKey], i) => resolvedEntryOf(schemaKey, found.get(i + 1) as EntryRow)),
      registryVersion: rows[0] === undefined ? null : (rows[0].registry_version ?? noRegistry),
    }
  }

  /** Checks a mapping. Requests share a statement. If the write has no effect, call `forget` and check again. */
  async check(
    { workspaceId, environment }: TenantScope,
    toCheck: MappingToCheck | null,
    attempt: Attempt,
  ): Promise<CheckedMapping> {
    const scope = { workspaceId, environment }
    const known = this.#checkByLastVersion(scope, toCheck)
    if (known !== null || toCheck === null) return known ?? notChecked
    const { mapping, mode } = toCheck
    return checked(await this.#resolving.add({ ...scope, bucket: 0, mapping }, attempt), mode)
  }

  /** Checks several mappings, in one statement. If a write has no effect, call `forget` and check again. */
  async checkAll(
    scope: TenantScope,
    mappings: readonly (MappingToCheck | null)[],
  ): Promise<CheckedMapping[]> {
    const known = mappings.map((toCheck) => this.#checkByLastVersion(scope, toCheck))
    if (!known.includes(null)) return known as CheckedMapping[]
    const resolved = await this.#resolveAll(
      scope,
      mappings.map((toCheck) => toCheck?.mapping ?? null),
    )
    return resolved.map((mapping, i) => checked(mapping, mappings[i]?.mode ?? 'free'))
  }

  /** Drops the last version of the registry, so that the next check reads it. */
  forget(scope: TenantScope): void {
    this.#lastVersions.delete(scopeKey(scope))
  }

  /**
   * Accepts a mapping without a statement if it is accepted by the last version of the registry, which the write then compares with the
   * current one. Returns null if a statement must decide.
   */
  #checkByLastVersion(scope: TenantScope, toCheck: MappingToCheck | null): CheckedMapping | null {
    if (toCheck === null) return notChecked
    const ofScope = scopeKey(scope)
    const version = this.#lastVersions.get(ofScope)
    if (version === undefined || toCheck.mode !== 'free') return null
    if (version !== noRegistry) {
      const ids = mappingEntries(toCheck.mapping).map(([key]) =>
        this.#schemaIds.get(`${ofScope} ${version} ${key}`),
      )
      const schemas = ids.filter((id) => id !== null)
      if (ids.includes(undefined) || new Set(schemas).size < schemas.length) return null
    }
    return { refusal: null, registryVersion: version }
  }

  #remember(scope: TenantScope, { entries, registryVersion }: ResolvedMapping): void {
    if (registryVersion === null) return
    const ofScope = scopeKey(scope)
    this.#lastVersions.set(ofScope, registryVersion)
    if (registryVersion === noRegistry) return
    for (const { schemaKey, schema } of entries)
      this.#schemaIds.set(`${ofScope} ${registryVersion} ${schemaKey}`, schema?.id ?? null)
  }

  /** Returns null if the registry changed after the row was read. Then both must be read again. */
  async findRegistered(
    scope: TenantScope,
    { mapping, registry_version: version }: TokenRow,
    attempt: Attempt,
  ): Promise<readonly RegisteredEntry[] | null> {
    if (mapping === null || version === null) return []
    const versioned = { ...scope, version, mapping }
    const known = this.#resolvedMappings.get(versioned)
    if (known !== undefined) return known
    const resolved = await this.#resolving.add({ ...scope, bucket: 0, mapping }, attempt)
    if (resolved.entries.length > 0 && resolved.registryVersion !== version) return null
    const entries = resolved.entries.filter(isRegistered)
    this.#resolvedMappings.set(versioned, entries)
    return entries
  }

  async #resolveAll(scope: TenantScope, mappings: readonly (JsonText | null)[]): Promise<ResolvedMapping[]> {
    const entriesOf = mappings.map(mappingEntries)
    const resolved = await this.resolveEntries(scope, entriesOf.flat())
    this.#remember(scope, resolved)
    const { entries, registryVersion } = resolved
    let end = 0
    return entriesOf.map(({ length }) => ({ entries: entries.slice(end, (end += length)), registryVersion }))
  }
}

const scopeKey = ({ workspaceId, environment }: TenantScope) => `${workspaceId} ${environment}`

function checked({ entries, registryVersion }: ResolvedMapping, mode: MappingMode): CheckedMapping {
  const refused = refusedEntries(entries, mode)
  const refusal: RefusedMapping = { outcome: 'mapping_refused', entries: refused }
  return { refusal: refused.length === 0 ? null : refusal, registryVersion }
}

function resolvedEntryOf(schemaKey: string, row: EntryRow): ResolvedEntry {
  return {
    schemaKey,
    schema: row.schema_id === null ? null : { id: row.schema_id, providedId: row.schema_provided_id },
    dataSource:
      row.data_source_id === null
        ? null
        : { id: row.data_source_id, providedId: row.provided_id, name: row.name },
  }
}
