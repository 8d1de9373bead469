import type { Config } from '../config/settings.ts'
import { environments, type Environment } from '../domain/environment.ts'
import type { Store } from '../domain/store.ts'
import { defaultWorkspaceName } from '../domain/workspace/workspace.ts'
import { generateToken, hashToken } from '../domain/token/token.ts'
import { operator } from './operator.ts'

/**
 * What `ugs serve` tells the person who started it, besides where it listens. On the first start of an embedded store
 * it makes an API token for each environment, and this is the only time that they are shown. Where the store was
 * chosen by hand, standard output is likely to be kept somewhere, so that no token is ever made or shown.
 */
export async function prepareFirstCall(config: Config, store: Store, origin: string): Promise<string> {
  if (config.DATABASE_URL !== undefined) {
    return (await store.apiTokens.list()).length > 0 ? '' : makeOneYourself
  }
  const tokens = { Customer: generateToken('api', 'Customer'), Testing: generateToken('api', 'Testing') }
  const workspace = (await store.workspaces.list()).find(({ name }) => name === defaultWorkspaceName)
  if (workspace === undefined) return ''
  const isFirst = await store.apiTokens.createFirst(
    environments.map((environment) => ({
      workspaceId: workspace.id,
      environment,
      name: 'first start',
      scopes: ['write'],
      createdAt: Date.now(),
      expiresAt: null,
      tokenHash: hashToken(tokens[environment]),
      ...operator(),
    })),
  )
  return isFirst ? welcome(config, origin, tokens) : ''
}

const makeOneYourself = `
There is no API token yet. Make one with

  npx ugs api-token create --environment Customer --name NAME
`

function welcome(config: Config, origin: string, tokens: Record<Environment, string>): string {
  const call = (method: string, body: string) =>
    [
      `  curl -X ${method} ${origin}/api/user \\`,
      `    -H 'Authorization: Token ${tokens.Testing}' \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d ${body}`,
    ].join('\n')
  // Nothing is registered yet.
  const mapping = config.UGS_MAPPING === 'free' ? ',"mapping":{"40":"213"}' : ''
  const create = call(
    'GET',
    `'{"user_group_id":"customer-42","name":"Example customer"${mapping},"properties":{"region":"EU"}}'`,
  )
  const currentToken = `$(curl -s -X GET ${origin}/api/user -H 'Authorization: Token ${tokens.Testing}' -H 'Content-Type: application/json' -d '{"user_group_id":"customer-42"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
  return `
First start: made the workspace "${defaultWorkspaceName}", the secret key (${config.secretKeyFile}), and an API
token for each environment. They are shown this once; keep them with your backend's secrets.

  Customer  ${tokens.Customer}
  Testing   ${tokens.Testing}

Get or create a user group:

${create}

  answers {"success":1,"new_user_group":true,"user_group":{"team_id":1,"token":"ugt_testing_…","name":"Example customer","provided_id":"customer-42","properties":{"region":"EU"}}}

Update it:

${call('PUT', `'{"user_group_id":"customer-42","properties":{"region":"EU","plan":"gold"}}'`)}

  answers {"success":1,"new_user_group":false,"user_group":{"team_id":1,"token":"ugt_testing_…","name":"Example customer","provided_id":"customer-42","properties":{"region":"EU","plan":"gold"},"api_environment_tag":"Testing"}}

Rotate its token (this asks for the current one first):

${call('POST', `"{\\"current_token\\":\\"${currentToken}\\"}"`)}

  answers {"success":1,"user_group":{"team_id":1,"token":"ugt_testing_…","name":"Example customer","provided_id":"customer-42","api_environment_tag":"Testing"}}

The API is described at ${origin}/docs
`
}
