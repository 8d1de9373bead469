/** A change that the service reports. It contains no token and no properties. */
export interface FeedEvent {
  /** For example `user_group.token_rotated`. `reset` if events may have been missed. */
  readonly type: string
  /** Time of the change by the service's clock (ISO 8601), or null. */
  readonly timestamp: string | null
  /** The user group concerned. Null if the event concerns the whole environment. */
  readonly teamId: number | null
  readonly providedId: string | null
  readonly revision: number | null
  /** SHA-256 of the tokens concerned, in hex. Null if the event concerns all tokens of `teamId` or of the environment. */
  readonly tokenSha256: readonly string[] | null
}

/**
 * Reads the `data` of an event. An event that cannot be read concerns the whole environment, because its type may be newer
 * than this package.
 */
export function readFeedEvent(type: string, json: string): FeedEvent {
  const envelope = parse(json)
  const data = isObject(envelope.data) ? envelope.data : {}
  const { team_id: teamId = null, token_sha256: tokens = null } = data
  return {
    type,
    timestamp: stringOrNull(envelope.timestamp),
    providedId: stringOrNull(data.provided_id),
    revision: isCount(data.revision) ? data.revision : null,
    ...((teamId === null || isCount(teamId)) && (tokens === null || isHashes(tokens))
      ? { teamId, tokenSha256: tokens }
      : { teamId: null, tokenSha256: null }),
  }
}

/** Returns the event for a gap in the feed. */
export function resetEvent(): FeedEvent {
  return readFeedEvent('reset', '{}')
}

/** Returns whether the event can concern a token that a renderer has cached. True for unknown types. */
export function concernsTokens({ type }: FeedEvent): boolean {
  return type !== 'user_group.created' && !type.startsWith('api_token.')
}

const validTypes = /^(user_group\.(created|updated|resumed|restored)|schema\.\w+|data_source\.\w+)$/

/** Returns whether the tokens concerned may no longer be valid. True for unknown types. */
export function isRevocation({ type }: FeedEvent): boolean {
  return !validTypes.test(type)
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isHashes(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((hash) => typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash))
  )
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
