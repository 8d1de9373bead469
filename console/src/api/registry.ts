import type { Wire } from './wire.ts'

export type Schema = Wire['SchemaListResponse']['schemas'][number]
export type DataSource = Wire['DataSourceListResponse']['data_sources'][number]

export interface Registry {
  readonly schemas: readonly Schema[]
  readonly dataSources: readonly DataSource[]
  /** True if the lists are complete. Otherwise, an entry that is missing in them may still be registered. */
  readonly isWhole: boolean
}

/** Returns the data source or schema that a key names: by provided id first, then by id, like the service. */
export function resolve(
  { schemas, dataSources }: Pick<Registry, 'schemas' | 'dataSources'>,
  schemaKey: string,
  dataSourceKey: string,
) {
  const schema = named(schemas, schemaKey)
  const ofSchema = dataSources.filter(({ schema_id }) => schema_id === schema?.id)
  return { schema, dataSource: named(ofSchema, dataSourceKey), ofSchema }
}

function named<T extends { id: number; provided_id: string }>(all: readonly T[], key: string): T | undefined {
  return all.find(({ provided_id }) => provided_id === key) ?? all.find(({ id }) => String(id) === key)
}

/** Returns the word that a mistyped one probably meant. */
export function nearest(words: readonly string[], word: string): string | undefined {
  const rated = words
    .map((candidate) => ({ candidate, distance: distanceOf(candidate.toLowerCase(), word.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance)
  const [best] = rated
  return best !== undefined && best.distance <= Math.max(2, Math.floor(word.length / 4))
    ? best.candidate
    : undefined
}

/** Returns the edit distance of two words. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
  }
  return row[other.length] ?? 0
}
