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
  /** Version of the registry by which the entries were resolved; null if there are no entries or no registry. */
  readonly registryVersion: string | null
}

/** Result of checking a mapping. A write of the mapping holds only while the registry has the same version. */
export interface CheckedMapping {
  readonly refusal: RefusedMapping | null
  readonly registryVersion: string | null
}

/** Looks up what the entries of mappings name. */
export class Mappings {
  readonly #primary: PrimaryPool
  readonly #resolving: Coalescer<MappingToResolve, ResolvedMapping>
  readonly #resolvedMappings = new ResolvedMappings()

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
      registryVersion: rows[0]?.registry_version ?? null,
    }
  }

  /** Checks a mapping. Requests share a statement. */
  async check(
    { workspaceId, environment }: TenantScope,
    toCheck: MappingToCheck | null,
    attempt: Attempt,
  ): Promise<CheckedMapping> {
    if (toCheck === null) return { refusal: null, registryVersion: null }
    const { mapping, mode } = toCheck
    return checked(await this.#resolving.add({ workspaceId, environment, bucket: 0, mapping }, attempt), mode)
  }

  /** Checks several mappings, in one statement. */
  async checkAll(
    scope: TenantScope,
    mappings: readonly (MappingToCheck | null)[],
  ): Promise<CheckedMapping[]> {
    if (mappings.every((toCheck) => toCheck === null))
      return mappings.map(() => ({ refusal: null, registryVersion: null }))
    const resolved = await this.#resolveAll(
      scope,
      mappings.map((toCheck) => toCheck?.mapping ?? null),
    )
    return resolved.map((mapping, i) => checked(mapping, mappings[i]?.mode ?? 'free'))
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
    const { entries, registryVersion } = await this.resolveEntries(scope, entriesOf.flat())
    let end = 0
    return entriesOf.map(({ length }) => ({ entries: entries.slice(end, (end += length)), registryVersion }))
  }
}

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
