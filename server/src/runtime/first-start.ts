import { isatty } from 'node:tty'
import type { Config } from '../config/settings.ts'
import { signInLinkUrl } from '../contract/console.ts'
import { environments, type Environment } from '../domain/environment.ts'
import { consoleApiToken, createSignInLink } from '../domain/console-session/sign-in-link.ts'
import type { Store } from '../domain/store.ts'
import { defaultWorkspaceName } from '../domain/workspace/workspace.ts'
import { generateApiToken, hashToken } from '../domain/token/token.ts'
import { operator } from './operator.ts'

/** The result of a first start, for the person who starts the service. It holds secrets and must not be logged. */
export interface FirstStart {
  /** The API tokens that this start created. */
  readonly apiTokens?: Readonly<Record<Environment, string>>
  /** A one-time link to the console, signed in to `Testing`. Only for a terminal, because other output may be kept. */
  readonly signInLink?: string
  /** True if the store has no API token and this start created none. */
  readonly lacksApiToken: boolean
}

/**
 * Creates an API token for each environment at the first start with the default store, if somebody reads standard output at a terminal
 * or asked for them: other output may be kept in a log. With `DATABASE_URL`, creates none.
 */
export async function prepareFirstStart(config: Config, store: Store, origin: string): Promise<FirstStart> {
  const isPrinted = config.UGS_PRINT_API_TOKENS === 'always' || isatty(1)
  if (config.DATABASE_URL !== undefined || !isPrinted)
    return { lacksApiToken: (await store.apiTokens.list()).length === 0 }
  const apiTokens = { Customer: generateApiToken('Customer'), Testing: generateApiToken('Testing') }
  const workspace = (await store.workspaces.list()).find(({ name }) => name === defaultWorkspaceName)
  if (workspace === undefined) return { lacksApiToken: false }
  const isFirst = await store.apiTokens.createFirst(
    environments.map((environment) => ({
      workspaceId: workspace.id,
      environment,
      name: 'first start',
      scopes: ['write'],
      createdAt: Date.now(),
      expiresAt: null,
      tokenHash: hashToken(apiTokens[environment]),
      ...operator(),
    })),
  )
  if (!isFirst) return { lacksApiToken: false }
  if (config.UGS_CONSOLE === 'off' || !isatty(1)) return { apiTokens, lacksApiToken: false }
  const [actor, now] = [operator(), Date.now()]
  const scope = { workspaceId: workspace.id, environment: 'Testing' as const }
  const apiToken = await consoleApiToken(store, { ...scope, ...actor, now })
  const { secret } = await createSignInLink(store, { apiToken, actor, now })
  return { apiTokens, signInLink: signInLinkUrl(origin, secret), lacksApiToken: false }
}
