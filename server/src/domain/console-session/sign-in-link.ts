import { hasManagementScope, isUsable, type ApiToken } from '../api-token/api-token.ts'
import { createApiToken } from '../api-token/api-token-management.ts'
import type { Actor } from '../audit/audit-event.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { hashToken } from '../token/token.ts'
import { randomBytes } from '../util/random.ts'

type Ports = Pick<Store, 'apiTokens' | 'consoleSessions'>

const signInLinkMs = 15 * 60 * 1000
const secretBytes = 32

/** A link that signs in to the console once. */
export interface CreatedSignInLink {
  readonly secret: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

/**
 * Creates a sign-in link whose session has the permissions of an API token with the scope `admin`.
 * @throws Fault `unavailable`
 */
export async function createSignInLink(
  store: Ports,
  { apiToken, actor, now }: { apiToken: ApiToken; actor: Actor; now: number },
): Promise<CreatedSignInLink> {
  const secret = randomBytes(secretBytes).toString('base64url')
  const expiresAt = now + signInLinkMs
  await store.consoleSessions.createLink({ ...actor, hash: hashToken(secret), apiToken, expiresAt, now })
  return { secret, expiresAt }
}

/**
 * Returns the API token under which an operator without one of their own uses the console. Creates it if needed, without anybody
 * seeing its plaintext.
 * @throws Fault `unavailable`
 */
export async function consoleApiToken(
  store: Ports,
  { workspaceId, environment, author, requestId, now }: TenantScope & Actor & { readonly now: number },
): Promise<ApiToken> {
  const name = `console (${author})`
  const existing = (await store.apiTokens.list({ workspaceId, environment })).find(
    (apiToken) =>
      apiToken.name === name &&
      apiToken.replacedBy === null &&
      isUsable(apiToken, now) &&
      apiToken.scopes.includes('admin'),
  )
  if (existing !== undefined) return existing
  const description = { name, scopes: ['admin'] as const, createdAt: now, expiresAt: null }
  const created = await createApiToken(store, {
    workspaceId,
    environment,
    author,
    requestId,
    ...description,
  })
  return created.apiToken
}

/** Returns true if the API token works and has a scope of the management API. */
export function canManage(apiToken: ApiToken, now: number): boolean {
  return isUsable(apiToken, now) && hasManagementScope(apiToken)
}
