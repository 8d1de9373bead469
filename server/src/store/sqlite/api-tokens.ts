import { isDeepStrictEqual } from 'node:util'
import type { Database, Statement } from 'better-sqlite3'
import { isUsable, renewedExpiry, type ApiToken } from '../../domain/api-token/api-token.ts'
import type { UsageReport, SharedUsage } from '../../domain/api-token/rate-limiter.ts'
import type {
  ApiTokenUse,
  LimitApiToken,
  NewApiToken,
  RevokeApiToken,
  RotateApiToken,
  RotateApiTokenOutcome,
} from '../../domain/api-token/api-token-store.ts'
import { apiTokenOf, limitCells, maxAheadMs, rateLimitOf, type ApiTokenRow } from '../api-token-row.ts'
import { describedLimit, describedRotation, describedToken } from '../audit-row.ts'
import type { AuditLog } from './audit-log.ts'

export class ApiTokens {
  readonly #audit: AuditLog
  readonly #insert: Statement<unknown[], ApiTokenRow>
  readonly #selectByHash: Statement<[Uint8Array], ApiTokenRow>
  readonly #selectAll: Statement<[], ApiTokenRow>
  readonly #selectById: Statement<[number], ApiTokenRow>
  readonly #revoke: Statement<[number, number], ApiTokenRow>
  readonly #replace: Statement<[number | null, number, number], ApiTokenRow>
  readonly #setLimit: Statement<[number | null, number | null, number], ApiTokenRow>
  readonly #selectUsage: Statement<[number], number | null>
  readonly #setUsage: Statement<[number, number]>
  readonly #setLastUse: Statement<[number, number, number]>
  readonly #isEmpty: Statement<[], number>

  constructor(database: Database, audit: AuditLog) {
    this.#audit = audit
    this.#insert = database.prepare(
      `INSERT INTO api_token (token_hash, workspace_id, environment, name, scopes, created_at, expires_at,
                              calls_per_second, calls_at_once)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    )
    this.#selectByHash = database.prepare(`SELECT * FROM api_token WHERE token_hash = ?`)
    this.#selectAll = database.prepare(`SELECT * FROM api_token ORDER BY api_token_id`)
    this.#selectById = database.prepare(`SELECT * FROM api_token WHERE api_token_id = ?`)
    this.#revoke = database.prepare(`UPDATE api_token SET revoked_at = ? WHERE api_token_id = ? RETURNING *`)
    this.#replace = database.prepare(
      `UPDATE api_token SET expires_at = ?, replaced_by = ? WHERE api_token_id = ? RETURNING *`,
    )
    this.#setLimit = database.prepare(
      `UPDATE api_token SET calls_per_second = ?, calls_at_once = ? WHERE api_token_id = ? RETURNING *`,
    )
    this.#selectUsage = database
      .prepare<[number], number | null>('SELECT booked_until FROM api_token WHERE api_token_id = ?')
      .pluck()
    this.#setUsage = database.prepare('UPDATE api_token SET booked_until = ? WHERE api_token_id = ?')
    this.#setLastUse = database.prepare(
      'UPDATE api_token SET last_used_at = ? WHERE api_token_id = ? AND coalesce(last_used_at, 0) < ?',
    )
    this.#isEmpty = database
      .prepare<[], number>(
        'SELECT NOT EXISTS (SELECT 1 FROM api_token) AND NOT EXISTS (SELECT 1 FROM user_group)',
      )
      .pluck()
  }

  create(token: NewApiToken): ApiToken {
    const apiToken = this.#insertRow(token)
    const details = describedToken(apiToken)
    this.#audit.append('api_token.created', { ...token, now: token.createdAt }, { details })
    return apiToken
  }

  rotate({ id, tokenHash, oldTokenValidUntil, ...change }: RotateApiToken): RotateApiTokenOutcome {
    const row = this.#selectById.get(id)
    if (row === undefined) return { outcome: 'not_found' }
    const old = apiTokenOf(row)
    if (old.replacedBy !== null) return { outcome: 'superseded', replacedBy: old.replacedBy }
    if (!isUsable(old, change.now)) return { outcome: 'unusable' }
    const { workspaceId, environment, name, scopes, rateLimit } = old
    const event = { workspaceId, environment, ...change }
    const apiToken = this.#insertRow({
      ...event,
      name,
      scopes,
      rateLimit,
      tokenHash,
      createdAt: change.now,
      expiresAt: renewedExpiry(old, change.now),
    })
    const expiresAt = Math.min(old.expiresAt ?? Infinity, oldTokenValidUntil)
    const oldApiToken = apiTokenOf(this.#replace.get(expiresAt, apiToken.id, id) as ApiTokenRow)
    this.#audit.append('api_token.rotated', event, { details: describedRotation(oldApiToken, apiToken) })
    return { outcome: 'rotated', apiToken, oldApiToken }
  }

  limit({ id, rateLimit, ...change }: LimitApiToken): ApiToken | null {
    const row = this.#selectById.get(id)
    if (row === undefined) return null
    if (isDeepStrictEqual(rateLimitOf(row), rateLimit)) return apiTokenOf(row)
    const apiToken = apiTokenOf(this.#setLimit.get(...limitCells({ rateLimit }), id) as ApiTokenRow)
    const { workspaceId, environment } = apiToken
    const details = describedLimit(apiToken)
    this.#audit.append('api_token.limited', { workspaceId, environment, ...change }, { details })
    return apiToken
  }

  /** Uses the time since the machine started, which all its processes share and which cannot be set. */
  reportUsage(usageReports: readonly UsageReport[]): SharedUsage[] {
    const now = Number(process.hrtime.bigint() / 1000n)
    return usageReports.flatMap(({ apiTokenId, costMs, aheadMs, fullMs }) => {
      const row = this.#selectUsage.get(apiTokenId)
      if (row === undefined) return []
      const reported = row ?? -Infinity
      const isPlausible = reported <= now + maxAheadMs(fullMs) * 1000
      const before = isPlausible ? reported : now + Math.round(fullMs * 1000)
      const usedUntil = Math.max(before + Math.round(costMs * 1000), now + Math.round(aheadMs * 1000))
      this.#setUsage.run(usedUntil, apiTokenId)
      return [{ apiTokenId, aheadMs: (usedUntil - now) / 1000 }]
    })
  }

  recordUses(uses: readonly ApiTokenUse[]): void {
    for (const { id, usedAt } of uses) this.#setLastUse.run(usedAt, id, usedAt)
  }

  #insertRow(token: Omit<NewApiToken, 'author' | 'requestId'>): ApiToken {
    const row = this.#insert.get(
      token.tokenHash,
      token.workspaceId,
      token.environment,
      token.name,
      token.scopes.join(' '),
      token.createdAt,
      token.expiresAt,
      ...limitCells(token),
    )
    return apiTokenOf(row as ApiTokenRow)
  }

  createFirst(tokens: readonly NewApiToken[]): boolean {
    if (this.#isEmpty.get() !== 1) return false
    for (const token of tokens) this.create(token)
    return true
  }

  find(tokenHash: Uint8Array): ApiToken | null {
    const row = this.#selectByHash.get(tokenHash)
    return row === undefined ? null : apiTokenOf(row)
  }

  list(): ApiToken[] {
    return this.#selectAll.all().map(apiTokenOf)
  }

  revoke({ id, ...change }: RevokeApiToken): ApiToken | null {
    const row = this.#selectById.get(id)
    if (row === undefined) return null
    const apiToken = apiTokenOf(row)
    if (apiToken.revokedAt !== null) return apiToken
    const { workspaceId, environment } = apiToken
    const details = { api_token_id: id, name: apiToken.name }
    this.#audit.append('api_token.revoked', { workspaceId, environment, ...change }, { details })
    return apiTokenOf(this.#revoke.get(change.now, id) as ApiTokenRow)
  }
}
