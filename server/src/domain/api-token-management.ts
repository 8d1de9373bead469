import type { ApiToken, Scope } from './api-token.ts'
import type { Clock } from './clock.ts'
import type { Environment } from './environment.ts'
import { Fault } from './fault.ts'
import type { NewApiToken, Store } from './store.ts'
import { generateToken, hashToken } from './token.ts'
import type { Realm } from './user-group-service.ts'
import type { Workspace } from './workspace.ts'

/** An API token, and what it is itself: nothing keeps that. */
export interface MadeApiToken {
  readonly apiToken: ApiToken
  readonly token: string
}

/** @throws Fault `unavailable` */
export async function makeApiToken(
  store: Store,
  description: Omit<NewApiToken, 'tokenHash'>,
): Promise<MadeApiToken> {
  const token = generateToken('api', description.environment)
  return { apiToken: await store.createApiToken({ ...description, tokenHash: hashToken(token) }), token }
}

/** The API tokens of a workspace and environment, for those who have one there with the scope `admin`. */
export class ApiTokenManagement {
  readonly #store: Store
  readonly #clock: Pick<Clock, 'now'>

  constructor(parts: { store: Store; clock: Pick<Clock, 'now'> }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /** @throws Fault `unavailable` */
  async list({ workspaceId, environment }: Realm): Promise<ApiToken[]> {
    const all = await this.#store.listApiTokens()
    return all.filter((token) => token.workspaceId === workspaceId && token.environment === environment)
  }

  /** @throws Fault `unavailable` */
  create(
    { workspaceId, environment }: Realm,
    { name, scopes, validForMs }: { name: string; scopes: readonly Scope[]; validForMs: number | null },
  ): Promise<MadeApiToken> {
    const now = this.#clock.now()
    const expiresAt = validForMs === null ? null : now + validForMs
    return makeApiToken(this.#store, { workspaceId, environment, name, scopes, createdAt: now, expiresAt })
  }

  /** @throws Fault `not_found`, `unavailable` */
  async revoke(realm: Realm, id: number): Promise<ApiToken> {
    const isOurs = (await this.list(realm)).some((token) => token.id === id)
    const revoked = isOurs ? await this.#store.revokeApiToken(id, this.#clock.now()) : null
    if (revoked === null) throw new Fault('not_found', 'No API token of this environment has this id')
    return revoked
  }

  /** @throws Fault `unavailable` */
  async findWorkspaces({ workspaceId }: Realm): Promise<Workspace[]> {
    return (await this.#store.listWorkspaces()).filter(({ id }) => id === workspaceId)
  }

  /**
   * With an API token for it, since whoever makes a workspace has none yet.
   * @throws Fault `already_exists`, `unavailable`
   */
  async createWorkspace(
    environment: Environment,
    name: string,
  ): Promise<MadeApiToken & { readonly workspace: Workspace }> {
    const workspace = await this.#store.createWorkspace(name, this.#clock.now())
    if (workspace === null) throw new Fault('already_exists', 'There is already a workspace with this name')
    const made = await this.create(
      { workspaceId: workspace.id, environment },
      { name: 'admin', scopes: ['admin'], validForMs: null },
    )
    return { ...made, workspace }
  }
}
