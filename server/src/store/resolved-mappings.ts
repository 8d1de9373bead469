import { Cache } from '../domain/util/cache.ts'
import type { RegisteredEntry } from '../domain/data-source/data-source.ts'
import type { Environment } from '../domain/environment.ts'
import type { JsonText } from '../domain/json/json-text.ts'

/** A mapping and the version of the registry that resolves it. */
export interface VersionedMapping {
  readonly workspaceId: number
  readonly environment: Environment
  /** Current version of the registry. Every change of a schema or data source changes it. */
  readonly version: string
  readonly mapping: JsonText
}

/** Approximate size in bytes. The cache may hold twice as much. */
const size = 2_000_000
const weightOfEntry = 200

/** Cache of resolved mappings. Entries cannot be stale, because the key has the registry version that the caller just read. */
export class ResolvedMappings {
  readonly #entries = new Cache<readonly RegisteredEntry[]>(
    size,
    (key, entries) => key.length + weightOfEntry * entries.length,
  )

  get(mapping: VersionedMapping): readonly RegisteredEntry[] | undefined {
    return this.#entries.get(keyOf(mapping))
  }

  set(mapping: VersionedMapping, entries: readonly RegisteredEntry[]): void {
    this.#entries.set(keyOf(mapping), entries)
  }
}

function keyOf({ workspaceId, environment, version, mapping }: VersionedMapping): string {
  return `${workspaceId} ${environment} ${version} ${mapping}`
}
