import { isUsable, renewedExpiry, type ApiToken } from '../../domain/api-token/api-token.ts'
import type { UsageReport, SharedUsage } from '../../domain/api-token/rate-limiter.ts'
import type {
  ApiTokenStore,
  ApiTokenUse,
  LimitApiToken,
  NewApiToken,
  RevokeApiToken,
  RotateApiToken,
  RotateApiTokenOutcome,
} from '../../domain/api-token/api-token-store.ts'
import type { BatchObserver } from '../batch-observer.ts'
import { appendAuditEvent } from './audit-log.ts'
import { apiTokenOf, limitCells, maxAheadMs, type ApiTokenRow } from '../api-token-row.ts'
import { describedLimit, describedRotation, describedToken } from '../audit-row.ts'
import { Coalescer } from './coalescer.ts'
import { prepared, type PrimaryPool, type Query, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'

type HashedApiTokenRow = ApiTokenRow & { readonly token_hash: Uint8Array }

const selectByHash: Statement<HashedApiTokenRow> = prepared(
  'api_token_select_by_hash',
  'SELECT api_token.* FROM unnest($1::bytea[]) AS wanted (token_hash) JOIN api_token USING (token_hash)',
)

/** Runs in a transaction. Returns null if an earlier attempt with an ambiguous commit inserted the token. */
export async function insertApiToken(query: Query, token: NewApiToken): Promise<ApiToken | null> {
  const apiToken = await insertRow(query, token)
  if (apiToken !== null)
    await appendAuditEvent(
      query,
      'api_token.created',
      { ...token, now: token.createdAt },
      describedToken(apiToken),
    )
  return apiToken
}

async function insertRow(
  query: Query,
  token: Omit<NewApiToken, 'author' | 'requestId'>,
): Promise<ApiToken | null> {
  const { tokenHash, workspaceId, environment, name, scopes, createdAt, expiresAt } = token
  const [row] = await query<ApiTokenRow>(
    `INSERT INTO api_token (token_hash, workspace_id, environment, name, scopes, created_at, expires_at,
                            calls_per_second, calls_at_once)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (token_hash) DO NOTHING RETURNING *`,
    [tokenHash, workspaceId, environment, name, scopes.join(' '), createdAt, expiresAt, ...limitCells(token)],
  )
  return row === undefined ? null : apiTokenOf(row)
}

async function rotate(
  query: Query,
  { id, tokenHash, oldTokenValidUntil, ...change }: RotateApiToken,
): Promise<RotateApiTokenOutcome> {
  const [row] = await query<ApiTokenRow>(
    'SELECT * FROM api_token WHERE api_token_id = $1 FOR NO KEY UPDATE',
    [id],
  )
  if (row === undefined) return { outcome: 'not_found' }
  const old = apiTokenOf(row)
  if (old.replacedBy !== null) {
    const [issued] = await query(selectByHash, [[tokenHash]])
    // An earlier attempt with an ambiguous commit inserted it.
    if (issued !== undefined) return { outcome: 'rotated', apiToken: apiTokenOf(issued), oldApiToken: old }
    return { outcome: 'superseded', replacedBy: old.replacedBy }
  }
  if (!isUsable(old, change.now)) return { outcome: 'unusable' }
  const { workspaceId, environment, name, scopes, rateLimit } = old
  const event = { workspaceId, environment, ...change }
  const expiresAt = renewedExpiry(old, change.now)
  const apiToken = (await insertRow(query, {
    ...event,
    name,
    scopes,
    rateLimit,
    tokenHash,
    createdAt: change.now,
    expiresAt,
  })) as ApiToken
  const oldApiToken = {
    ...old,
    expiresAt: Math.min(old.expiresAt ?? Infinity, oldTokenValidUntil),
    replacedBy: apiToken.id,
  }
  await query('UPDATE api_token SET expires_at = $2, replaced_by = $3 WHERE api_token_id = $1', [
    id,
    oldApiToken.expiresAt,
    apiToken.id,
  ])
  await appendAuditEvent(query, 'api_token.rotated', event, describedRotation(oldApiToken, apiToken))
  return { outcome: 'rotated', apiToken, oldApiToken }
}

// Every statement locks in the same order, so that two processes never deadlock.
const recordUses = `WITH used AS (
    SELECT api_token_id, max(used_at) AS used_at
    FROM unnest($1::bigint[], $2::bigint[]) AS used (api_token_id, used_at) GROUP BY api_token_id
  ), locked AS (
    SELECT api_token_id, used_at FROM api_token JOIN used USING (api_token_id)
    WHERE coalesce(last_used_at, 0) < used_at ORDER BY api_token_id FOR NO KEY UPDATE OF api_token
  )
  UPDATE api_token SET last_used_at = used_at FROM locked WHERE api_token.api_token_id = locked.api_token_id`

// Uses the database's clock, because the clients' clocks differ.
const reportUsage: Statement<{ readonly api_token_id: number; readonly ahead: number }> = prepared(
  'api_token_report_usage',
  `WITH report AS (
    SELECT api_token_id, cost, ahead, whole, longest
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
      AS report (api_token_id, cost, ahead, whole, longest)
  ), locked AS (
    SELECT api_token_id, coalesce(booked_until, 0) AS booked_until, cost, ahead, whole, longest
    FROM api_token JOIN report USING (api_token_id) ORDER BY api_token_id FOR NO KEY UPDATE OF api_token
  ), clock AS (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
  )
  UPDATE api_token SET booked_until = greatest(
    cost + CASE WHEN locked.booked_until > now + longest THEN now + whole ELSE locked.booked_until END,
    now + ahead
  )
  FROM locked, clock WHERE api_token.api_token_id = locked.api_token_id
  RETURNING api_token.api_token_id, api_token.booked_until - now AS ahead`,
)

export class ApiTokens implements ApiTokenStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #selectByHash: Coalescer<Uint8Array, ApiToken | null>

  constructor(primary: PrimaryPool, retry: Retry, observer: BatchObserver | undefined) {
    this.#primary = primary
    this.#retry = retry
    this.#selectByHash = new Coalescer({
      kind: 'find_api_token',
      observer,
      groupOf: () => '',
      keysOf: (hash) => [hex(hash)],
      sameKey: 'share',
      run: async (hashes) => {
        const rows = await primary.query(selectByHash, [hashes])
        const found = new Map(rows.map((row) => [hex(row.token_hash), apiTokenOf(row)]))
        return hashes.map((hash) => found.get(hex(hash)) ?? null)
      },
      maxInFlightOfGroup: 1,
      maxInFlight: 1,
      collectingMs: 0,
    })
  }

  create(token: NewApiToken): Promise<ApiToken> {
    return this.#retry.run(async (attempt) => {
      const created = await attempt.transaction(this.#primary, (query) => insertApiToken(query, token))
      return created ?? ((await this.#selectByHash.add(token.tokenHash, attempt)) as ApiToken)
    })
  }

  createFirst(tokens: readonly NewApiToken[]): Promise<boolean> {
    return this.#retry.run((attempt) =>
      attempt.transaction(this.#primary, (query) => createFirst(query, tokens)),
    )
  }

  find(tokenHash: Uint8Array): Promise<ApiToken | null> {
    return this.#retry.run((attempt) => this.#selectByHash.add(tokenHash, attempt))
  }

  async list(): Promise<ApiToken[]> {
    const rows = await this.#retry.query<ApiTokenRow>('SELECT * FROM api_token ORDER BY api_token_id')
    return rows.map(apiTokenOf)
  }

  rotate(command: RotateApiToken): Promise<RotateApiTokenOutcome> {
    return this.#retry.run((attempt) => attempt.transaction(this.#primary, (query) => rotate(query, command)))
  }

  limit({ id, rateLimit, ...change }: LimitApiToken): Promise<ApiToken | null> {
    return this.#retry.run((attempt) =>
      attempt.transaction(this.#primary, async (query) => {
        const [row] = await query<ApiTokenRow>(
          `UPDATE api_token SET calls_per_second = $2, calls_at_once = $3
           WHERE api_token_id = $1 AND (calls_per_second, calls_at_once) IS DISTINCT FROM ($2, $3) RETURNING *`,
          [id, ...limitCells({ rateLimit })],
        )
        if (row === undefined) return selectById(query, id)
        const apiToken = apiTokenOf(row)
        const { workspaceId, environment } = apiToken
        const event = { workspaceId, environment, ...change }
        await appendAuditEvent(query, 'api_token.limited', event, describedLimit(apiToken))
        return apiToken
      }),
    )
  }

  async reportUsage(usageReports: readonly UsageReport[]): Promise<SharedUsage[]> {
    const rows = await this.#retry.query(reportUsage, [
      usageReports.map(({ apiTokenId }) => apiTokenId),
      usageReports.map(({ costMs }) => microseconds(costMs)),
      usageReports.map(({ aheadMs }) => microseconds(aheadMs)),
      usageReports.map(({ fullMs }) => microseconds(fullMs)),
      usageReports.map(({ fullMs }) => microseconds(maxAheadMs(fullMs))),
    ])
    return rows.map(({ api_token_id, ahead }) => ({ apiTokenId: api_token_id, aheadMs: ahead / 1000 }))
  }

  async recordUses(uses: readonly ApiTokenUse[]): Promise<void> {
    await this.#retry.query(recordUses, [uses.map(({ id }) => id), uses.map(({ usedAt }) => usedAt)])
  }

  revoke({ id, ...change }: RevokeApiToken): Promise<ApiToken | null> {
    return this.#retry.run((attempt) =>
      attempt.transaction(this.#primary, async (query) => {
        const [row] = await query<ApiTokenRow>(
          'UPDATE api_token SET revoked_at = $2 WHERE api_token_id = $1 AND revoked_at IS NULL RETURNING *',
          [id, change.now],
        )
        if (row === undefined) return selectById(query, id)
        const apiToken = apiTokenOf(row)
        const { workspaceId, environment, name } = apiToken
        const details = { api_token_id: id, name }
        await appendAuditEvent(query, 'api_token.revoked', { workspaceId, environment, ...change }, details)
        return apiToken
      }),
    )
  }
}

async function selectById(query: Query, id: number): Promise<ApiToken | null> {
  const [row] = await query<ApiTokenRow>('SELECT * FROM api_token WHERE api_token_id = $1', [id])
  return row === undefined ? null : apiTokenOf(row)
}

async function createFirst(query: Query, tokens: readonly NewApiToken[]): Promise<boolean> {
  await query('LOCK TABLE api_token IN SHARE ROW EXCLUSIVE MODE')
  const [state] = await query(
    'SELECT NOT EXISTS (SELECT 1 FROM api_token) AND NOT EXISTS (SELECT 1 FROM user_group) AS is_empty',
  )
  // Tokens from an earlier attempt of this operation do not count as others.
  if (state?.is_empty !== true)
    return (await query(selectByHash, [tokens.slice(0, 1).map(hashOf)])).length > 0
  for (const token of tokens) await insertApiToken(query, token)
  return true
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000)
}

function hashOf({ tokenHash }: NewApiToken): Uint8Array {
  return tokenHash
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
