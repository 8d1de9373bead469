// JSON text built from parts that are JSON text already. Mappings and properties are stored as the text that was sent and
// returned byte for byte, so responses cannot be built as objects and serialized.

export type Members = Readonly<Record<string, string>>

/** Returns a JSON object. The values of `members` are JSON texts. */
export function object(members: Members): string {
  return `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()}}`
}

export function array<T>(items: readonly T[], jsonOf: (item: T) => string): string {
  return `[${items.map(jsonOf).join()}]`
}

export const json = (value: unknown) => JSON.stringify(value)

/** Returns an RFC 3339 timestamp in UTC, or `null`. */
export const time = (ms: number | null) => json(ms === null ? null : new Date(ms).toISOString())

/** Returns the body of a successful response. */
export function successful(members: Members): string {
  return object({ success: '1', ...members })
}
