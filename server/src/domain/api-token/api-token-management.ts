import type { ApiToken } from './api-token.ts'
import type { Clock } from '../util/clock.ts'
import { Fault } from '../fault.ts'
import type { NewApiToken } from './api-token-store.ts'
import type { RateLimit } from './rate-limit.ts'
import type { NewWorkspace } from '../workspace/workspace-store.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { generateApiToken, hashToken } from '../token/token.ts'
import { actorOf, type Caller } from '../caller.ts'

type Ports = Pick<Store, 'apiTokens' | 'workspaces'>

/** An API token with its plaintext, which is not stored anywhere. */
export interface CreatedApiToken {
  readonly apiToken: ApiToken
  readonly token: string
}

/** @throws Fault `unavailable` */
export async function createApiToken(
  store: Pick<Store, 'apiTokens'>,
  description: Omit<NewApiToken, 'tokenHash'>,
): Promise<CreatedApiToken> {
  const token = generateApiToken(description.environment)
  return { apiToken: await store.apiTokens.create({ ...description, tokenHash: hashToken(token) }), token }
}

/** A new API token and the old one that it replaced, with the old one's new expiry. */
export interface RotatedApiToken extends CreatedApiToken {
  readonly oldApiToken: ApiToken
}

/** Manages the API tokens of a workspace and environment, for callers with the scope `admin`. */
export class ApiTokenManagement {
  readonly #store: Ports
  readonly #clock: Pick<Clock, 'now'>
  readonly #revokedIds: Set<number>

  /** @param parts `revokedIds` gets the ids of revoked API tokens, for requests to the same process */
  constructor(parts: { store: Ports; clock: Pick<Clock, 'now'>; revokedIds: Set<number> }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#revokedIds = parts.revokedIds
  }

  /** @throws Fault `unavailable` */
  async list({ workspaceId, environment }: TenantScope): Promise<ApiToken[]> {
    const all = await this.#store.apiTokens.list()
    return all.filter((token) => token.workspaceId === workspaceId && token.environment === environment)
  }

  /** @throws Fault `unavailable` */
  create(
    caller: Caller,
    {
      validForMs,
      ...description
    }: { readonly validForMs: number | null } & Pick<NewApiToken, 'name' | 'scopes' | 'rateLimit'>,
  ): Promise<CreatedApiToken> {
    const createdAt = this.#clock.now()
    const expiresAt = validForMs === null ? null : createdAt + validForMs
    return createApiToken(this.#store, { ...caller, ...description, createdAt, expiresAt })
  }

  /**
   * Replaces an API token. The old one stays valid for at most `overlapMs`.
   * @throws Fault `not_found` (also for an expired or revoked token), `token_superseded`, `unavailable`
   */
  async rotate(caller: Caller, id: number, overlapMs: number): Promise<RotatedApiToken> {
    await this.#checkInScope(caller, id)
    const now = this.#clock.now()
    const token = generateApiToken(caller.environment)
    const result = await this.#store.apiTokens.rotate({
      ...actorOf(caller),
      id,
      tokenHash: hashToken(token),
      oldTokenValidUntil: now + overlapMs,
      now,
    })
    switch (result.outcome) {
      case 'rotated':
        return { apiToken: result.apiToken, oldApiToken: result.oldApiToken, token }
      case 'superseded':
        throw new Fault(
          'token_superseded',
          `The API token with this id was already replaced by the one with the id ${result.replacedBy}`,
        )
      case 'unusable':
        throw new Fault(
          'not_found',
          'The API token with this id has expired or was revoked; create a new one',
        )
      case 'not_found':
        throw noSuchApiToken()
    }
  }

  /** @throws Fault `not_found`, `unavailable` */
  async revoke(caller: Caller, id: number): Promise<ApiToken> {
    await this.#checkInScope(caller, id)
    const revoked = await this.#store.apiTokens.revoke({ id, ...actorOf(caller), now: this.#clock.now() })
    if (revoked === null) throw noSuchApiToken()
    this.#revokedIds.add(id)
    return revoked
  }

  /** Sets the rate limit; null restores the default of the service. @throws Fault `not_found`, `unavailable` */
  async limit(caller: Caller, id: number, rateLimit: RateLimit | null): Promise<ApiToken> {
    await this.#checkInScope(caller, id)
    const command = { id, rateLimit, ...actorOf(caller), now: this.#clock.now() }
    const limited = await this.#store.apiTokens.limit(command)
    if (limited === null) throw noSuchApiToken()
    return limited
  }

  /** @throws Fault `unavailable` */
  async findWorkspaces({ workspaceId }: TenantScope): Promise<Workspace[]> {
    return (await this.#store.workspaces.list()).filter(({ id }) => id === workspaceId)
  }

  /**
   * Creates a workspace together with its first API token.
   * @throws Fault `already_exists`, `unavailable`
   */
  async createWorkspace(
    caller: Caller,
    name: string,
  ): Promise<CreatedApiToken & { readonly workspace: Workspace }> {
    const { environment } = caller
    const createdAt = this.#clock.now()
    const token = generateApiToken(environment)
    const apiToken: NewWorkspace['apiToken'] = {
      environment,
      name: 'admin',
      scopes: ['admin'],
      createdAt,
      expiresAt: null,
      tokenHash: hashToken(token),
    }
    const created = await this.#store.workspaces.create({
      name,
      createdAt,
      environment,
      apiToken,
      ...actorOf(caller),
    })
    if (created === null) throw new Fault('already_exists', 'There is already a workspace with this name')
    return { workspace: created.workspace, apiToken: created.apiToken as ApiToken, token }
  }

  /** @throws Fault `not_found`, `unavailable` */
  async #checkInScope(tenantScope: TenantScope, id: number): Promise<void> {
    if (!(await this.list(tenantScope)).some((token) => token.id === id)) throw noSuchApiToken()
  }
}

function noSuchApiToken(): Fault {
  return new Fault('not_found', 'No API token of this environment has this id')
}
