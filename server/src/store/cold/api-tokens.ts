import { isDeepStrictEqual } from 'node:util'
import {
  decideRotation,
  isScope,
  isUsable,
  type ApiToken,
  type HashedApiToken,
} from '../../domain/api-token/api-token.ts'
import type { ApiTokenStore, NewApiToken } from '../../domain/api-token/api-token-store.ts'
import { rateLimitText, type RateLimit } from '../../domain/api-token/rate-limit.ts'
import { usedUntil } from '../../domain/api-token/rate-limiter.ts'
import type { Environment } from '../../domain/environment.ts'
import { appendAuditEvent, timeText } from './audit-log.ts'
import { transaction, type Operation, type Operations } from './operation.ts'
import { either, postgres, raw, rowsOf, sql } from './sql.ts'

export interface ApiTokenRow {
  readonly api_token_id: number
  readonly token_hash: Uint8Array
  readonly workspace_id: number
  readonly environment: Environment
  readonly name: string
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
  readonly replaced_by: number | null
  readonly calls_per_second: number | null
  readonly calls_at_once: number | null
}

export const apiTokens: Operations<ApiTokenStore> = {
  *create(token) {
    yield* transaction()
    return yield* insertApiToken(token)
  },

  *createNamed(token) {
    const { isAmbiguous } = yield* transaction()
    yield* lockTable
    const { workspaceId, environment, name, tokenHash, createdAt } = token
    const known = yield* find(tokenHash)
    if (known !== null) {
      const isOwn = isAmbiguous && known.name === name && known.createdAt === createdAt
      return isOwn ? known : 'hash_taken'
    }
    const others = yield* sql<ApiTokenRow>`SELECT * FROM api_token
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND name = ${name} AND replaced_by IS NULL`
    if (others.some((row) => isUsable(apiTokenOf(row), createdAt))) return 'name_taken'
    return yield* insertApiToken(token)
  },

  *createFirst(tokens) {
    const { isAmbiguous } = yield* transaction()
    yield* lockTable
    // In this order: user groups of a damaged store that has API tokens are not read.
    const [used] = yield* sql`SELECT 1 AS used
      WHERE EXISTS (SELECT 1 FROM api_token) OR EXISTS (SELECT 1 FROM user_group)`
    // Tokens from an earlier attempt of this operation do not count as others.
    if (used !== undefined) {
      const created = isAmbiguous && tokens[0] ? yield* find(tokens[0].tokenHash) : null
      return created !== null
    }
    for (const token of tokens) yield* insertApiToken(token)
    return true
  },

  find,

  *list(tenantScope) {
    const condition =
      tenantScope === undefined
        ? raw('')
        : sql`WHERE workspace_id = ${tenantScope.workspaceId} AND environment = ${tenantScope.environment}`
    const rows = yield* sql<ApiTokenRow>`SELECT * FROM api_token ${condition} ORDER BY api_token_id`
    return rows.map((row): HashedApiToken => ({ ...apiTokenOf(row), tokenHash: row.token_hash }))
  },

  *revoke({ id, ...change }) {
    yield* transaction()
    const apiToken = yield* lock(id)
    if (apiToken?.revokedAt !== null) return apiToken
    yield* sql`UPDATE api_token SET revoked_at = ${change.now} WHERE api_token_id = ${id}`
    const { workspaceId, environment, name } = apiToken
    const details = { api_token_id: id, name }
    yield* appendAuditEvent('api_token.revoked', { workspaceId, environment, ...change }, details)
    return { ...apiToken, revokedAt: change.now }
  },

  *rotate({ id, tokenHash, oldTokenValidUntil, changes, ...change }) {
    const { isAmbiguous } = yield* transaction()
    const old = yield* lock(id)
    if (old === null) return { outcome: 'not_found' }
    const issued = isAmbiguous ? yield* find(tokenHash) : null
    if (issued !== null) return { outcome: 'rotated', apiToken: issued, oldApiToken: old }
    const decision = decideRotation(old, { oldTokenValidUntil, now: change.now, ...(changes && { changes }) })
    if (decision.outcome !== 'rotated') return decision
    const { replacement, oldExpiresAt } = decision
    const apiToken = yield* insertRow({ ...replacement, tokenHash })
    if (apiToken === null) return { outcome: 'hash_taken' }
    yield* sql`UPDATE api_token SET expires_at = ${oldExpiresAt}, replaced_by = ${apiToken.id} WHERE api_token_id = ${id}`
    const oldApiToken = { ...old, expiresAt: oldExpiresAt, replacedBy: apiToken.id }
    const { workspaceId, environment } = old
    const event = { workspaceId, environment, ...change }
    const details = {
      api_token_id: id,
      new_api_token_id: apiToken.id,
      name: apiToken.name,
      valid_until: timeText(oldExpiresAt),
      expires_at: timeText(apiToken.expiresAt),
    }
    yield* appendAuditEvent('api_token.rotated', event, details)
    return { outcome: 'rotated', apiToken, oldApiToken }
  },

  *limit({ id, rateLimit, ...change }) {
    yield* transaction()
    const old = yield* lock(id)
    if (old === null || isDeepStrictEqual(old.rateLimit, rateLimit)) return old
    yield* sql`UPDATE api_token SET calls_per_second = ${rateLimit?.perSecond ?? null}, calls_at_once = ${rateLimit?.burst ?? null}
      WHERE api_token_id = ${id}`
    const apiToken = { ...old, rateLimit }
    const { workspaceId, environment } = apiToken
    const details = {
      api_token_id: id,
      name: apiToken.name,
      rate_limit: rateLimit && rateLimitText(rateLimit),
    }
    yield* appendAuditEvent('api_token.limited', { workspaceId, environment, ...change }, details)
    return apiToken
  },

  *reportUsage(reports) {
    yield* transaction()
    yield* lockAll(reports.map(({ apiTokenId }) => apiTokenId))
    const given = reports.map(({ apiTokenId }) => ({ api_token_id: apiTokenId }))
    const rows = yield* sql<{ api_token_id: number; booked_until: number | null; now: number }>`
      SELECT api_token_id, booked_until, ${sharedClock()} AS now
      FROM ${rowsOf('given', { api_token_id: 'bigint' }, given)} JOIN api_token USING (api_token_id)`
    const found = new Map(rows.map((row) => [row.api_token_id, row]))
    const used = reports.flatMap((report) => {
      const row = found.get(report.apiTokenId)
      if (row === undefined) return []
      const now = row.now / 1000
      const until = usedUntil(row.booked_until === null ? null : row.booked_until / 1000, report, now)
      return { api_token_id: row.api_token_id, booked_until: Math.round(until * 1000), aheadMs: until - now }
    })
    yield* sql`UPDATE api_token SET booked_until = used.booked_until
      FROM ${rowsOf('used', { api_token_id: 'bigint', booked_until: 'bigint' }, used)}
      WHERE api_token.api_token_id = used.api_token_id`.prepared('api_token_report_usage')
    return used.map(({ api_token_id: apiTokenId, aheadMs }) => ({ apiTokenId, aheadMs }))
  },

  *recordUses(uses) {
    yield* transaction()
    yield* lockAll(uses.map(({ id }) => id))
    const given = uses.map(({ id, usedAt }) => ({ api_token_id: id, used_at: usedAt }))
    yield* sql`UPDATE api_token SET last_used_at = used.used_at
      FROM (
        SELECT api_token_id, max(used_at) AS used_at
        FROM ${rowsOf('given', { api_token_id: 'bigint', used_at: 'bigint' }, given)} GROUP BY api_token_id
      ) AS used
      WHERE api_token.api_token_id = used.api_token_id AND coalesce(last_used_at, 0) < used.used_at`
  },
}

export function* find(tokenHash: Uint8Array): Operation<ApiToken | null> {
  const [row] = yield* sql<ApiTokenRow>`SELECT * FROM api_token WHERE token_hash = ${tokenHash}`
  return row === undefined ? null : apiTokenOf(row)
}

/** Inserts an API token, in the transaction of the caller, unless an earlier attempt did. */
export function* insertApiToken(token: NewApiToken): Operation<ApiToken> {
  const apiToken = yield* insertRow(token)
  if (apiToken === null) return (yield* find(token.tokenHash)) as ApiToken
  const { id, name, scopes, expiresAt, rateLimit } = apiToken
  const limit = rateLimit && { rate_limit: rateLimitText(rateLimit) }
  const details = { api_token_id: id, name, scopes, expires_at: timeText(expiresAt), ...limit }
  yield* appendAuditEvent('api_token.created', { ...token, now: token.createdAt }, details)
  return apiToken
}

function* insertRow({
  rateLimit,
  ...token
}: Omit<NewApiToken, 'author' | 'requestId'>): Operation<ApiToken | null> {
  const [row] = yield* sql<ApiTokenRow>`
    INSERT INTO api_token (token_hash, workspace_id, environment, name, scopes, created_at, expires_at,
                           calls_per_second, calls_at_once)
    VALUES (${token.tokenHash}, ${token.workspaceId}, ${token.environment}, ${token.name}, ${token.scopes.join(' ')},
            ${token.createdAt}, ${token.expiresAt}, ${rateLimit?.perSecond ?? null}, ${rateLimit?.burst ?? null})
    ON CONFLICT (token_hash) DO NOTHING RETURNING *`
  return row === undefined ? null : apiTokenOf(row)
}

function* lock(id: number): Operation<ApiToken | null> {
  const [row] = yield* sql<ApiTokenRow>`
    SELECT * FROM api_token WHERE api_token_id = ${id} ${postgres`FOR NO KEY UPDATE`}`
  return row === undefined ? null : apiTokenOf(row)
}

/** Makes creations that look for other API tokens run one at a time. */
const lockTable = postgres`LOCK TABLE api_token IN SHARE ROW EXCLUSIVE MODE`

/** Locks API tokens in order, so that two processes never deadlock. */
const lockAll = (ids: readonly number[]) =>
  postgres`SELECT 1 FROM api_token WHERE api_token_id = ANY (${ids}::bigint[]) ORDER BY api_token_id FOR NO KEY UPDATE`

/**
 * The time in microseconds by a clock that all processes share: that of the database, or the time since the machine of a file started,
 * which cannot be set.
 */
const sharedClock = () =>
  either({
    sqlite: sql`${Number(process.hrtime.bigint() / 1000n)}`,
    postgres: sql`(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`,
  })

export function apiTokenOf(row: ApiTokenRow): ApiToken {
  return {
    id: row.api_token_id,
    workspaceId: row.workspace_id,
    environment: row.environment,
    name: row.name,
    scopes: row.scopes.split(' ').filter(isScope),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    replacedBy: row.replaced_by,
    rateLimit: rateLimitOf(row),
  }
}

function rateLimitOf({ calls_per_second, calls_at_once }: ApiTokenRow): RateLimit | null {
  return calls_per_second === null || calls_at_once === null
    ? null
    : { perSecond: calls_per_second, burst: calls_at_once }
}
