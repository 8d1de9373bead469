import { Cache } from '../domain/util/cache.ts'
import type { RegisteredEntry } from '../domain/data-source/data-source.ts'
import type { Environment } from '../domain/environment.ts'
import type { JsonText } from '../domain/json/json-text.ts'

/** A mapping, and by what version of its workspace's and environment's registry it is looked up. */
export interface VersionedMapping {
  readonly workspaceId: number
  readonly environment: Environment
  /** As the store has it now: each change of a schema or a data source draws another. */
  readonly version: string
  readonly mapping: JsonText
}

/** About as many bytes; twice as much may be held. */
const size = 2_000_000
const weightOfEntry = 200

/**
 * What mappings came to when they were looked up. It never grows stale: whoever asks has read the version of the registry
 * from the store, and what was looked up by another version is not found.
 */
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
