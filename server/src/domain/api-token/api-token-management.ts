import type { ApiToken, ApiTokenChanges, HashedApiToken } from './api-token.ts'
import type { Clock } from '../util/clock.ts'
import { Fault } from '../fault.ts'
import type { NewApiToken, RotateApiToken } from './api-token-store.ts'
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
  list(tenantScope: TenantScope): Promise<HashedApiToken[]> {
    return this.#store.apiTokens.list(tenantScope)
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
   * Creates an API token from the hash of a generated token, unless another usable one has its name.
   * @throws Fault `already_exists`, `in_use` (the hash was used before), `unavailable`
   */
  async createFromHash(
    caller: Caller,
    description: ApiTokenChanges & Pick<NewApiToken, 'name' | 'tokenHash'>,
  ): Promise<void> {
    const command = { ...caller, ...description, createdAt: this.#clock.now() }
    const created = await this.#store.apiTokens.createNamed(command)
    if (created === 'hash_taken') throw usedHash()
    if (created === 'name_taken') throw new Fault('already_exists', 'Another API token has this name')
  }

  /** @throws Fault `in_use` if an API token of any workspace has or had the hash; `unavailable` */
  async checkHashUnused(tokenHash: Uint8Array): Promise<void> {
    if ((await this.#store.apiTokens.find(tokenHash)) !== null) throw usedHash()
  }

  /**
   * Replaces an API token. The old one stays valid for at most `overlapMs`.
   * @throws Fault `not_found` (also for an expired or revoked token), `token_superseded`, `unavailable`
   */
  async rotate(caller: Caller, id: number, overlapMs: number): Promise<RotatedApiToken> {
    const token = generateApiToken(caller.environment)
    return { ...(await this.rotateToHash(caller, id, { tokenHash: hashToken(token), overlapMs })), token }
  }

  /** As `rotate`, with the hash of a generated token. @throws also Fault `in_use` if the hash was used before */
  async rotateToHash(
    caller: Caller,
    id: number,
    {
      overlapMs,
      ...rotation
    }: Pick<RotateApiToken, 'tokenHash' | 'changes'> & { readonly overlapMs: number },
  ): Promise<Omit<RotatedApiToken, 'token'>> {
    await this.#checkInScope(caller, id)
    const now = this.#clock.now()
    const result = await this.#store.apiTokens.rotate({
      ...actorOf(caller),
      ...rotation,
      id,
      oldTokenValidUntil: now + overlapMs,
      now,
    })
    switch (result.outcome) {
      case 'rotated':
        return { apiToken: result.apiToken, oldApiToken: result.oldApiToken }
      case 'hash_taken':
        throw usedHash()
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

  /** Returns the ids of all workspaces by name. @throws Fault `unavailable` */
  async workspaceIds(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.#store.workspaces.list()).map(({ name, id }) => [name, id]))
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

function usedHash(): Fault {
  return new Fault('in_use', 'token_sha256: an API token has or had this hash; generate another token')
}
