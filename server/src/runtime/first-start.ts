import type { Config } from '../config/settings.ts'
import { environments, type Environment } from '../domain/environment.ts'
import type { Store } from '../domain/store.ts'
import { defaultWorkspaceName } from '../domain/workspace/workspace.ts'
import { generateApiToken, hashToken } from '../domain/token/token.ts'
import { operator } from './operator.ts'

/**
 * Creates an API token for each environment at the first start with the default store. With `DATABASE_URL`, creates none,
 * because standard output is probably kept in a log.
 * @returns text that `ugs serve` prints after its address, the only place where the tokens are shown
 */
export async function prepareFirstStart(config: Config, store: Store, origin: string): Promise<string> {
  if (config.DATABASE_URL !== undefined) {
    return (await store.apiTokens.list()).length > 0 ? '' : createTokenHint
  }
  const tokens = { Customer: generateApiToken('Customer'), Testing: generateApiToken('Testing') }
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

const createTokenHint = `
There is no API token yet. Create one with

  npx ugs api-token create --environment Customer --name NAME
`

function welcome(config: Config, origin: string, tokens: Record<Environment, string>): string {
  const curl = (method: string, body: string) =>
    [
      `  curl -X ${method} ${origin}/api/user \\`,
      `    -H 'Authorization: Token ${tokens.Testing}' \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d ${body}`,
    ].join('\n')
  // In registered mode, a mapping would be refused: nothing is registered yet.
  const mapping = config.UGS_MAPPING === 'free' ? ',"mapping":{"40":"213"}' : ''
  const create = curl(
    'GET',
    `'{"user_group_id":"customer-42","name":"Example customer"${mapping},"properties":{"region":"EU"}}'`,
  )
  const currentToken = `$(curl -s -X GET ${origin}/api/user -H 'Authorization: Token ${tokens.Testing}' -H 'Content-Type: application/json' -d '{"user_group_id":"customer-42"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
  return `
First start: created the workspace "${defaultWorkspaceName}", the secret key (${config.secretKeyFile}) and an API
token for each environment. The tokens are shown only once; keep them with your backend's secrets.

  Customer  ${tokens.Customer}
  Testing   ${tokens.Testing}

Get or create a user group:

${create}

  returns {"success":1,"new_user_group":true,"user_group":{"team_id":1,"token":"ugt_testing_…","name":"Example customer","provided_id":"customer-42","properties":{"region":"EU"}}}

Update it:

${curl('PUT', `'{"user_group_id":"customer-42","properties":{"region":"EU","plan":"gold"}}'`)}

  returns {"success":1,"new_user_group":false,"user_group":{"team_id":1,"token":"ugt_testing_…","name":"Example customer","provided_id":"customer-42","properties":{"region":"EU","plan":"gold"},"api_environment_tag":"Testing"}}

Rotate its token (this command first gets the current token):

${curl('POST', `"{\\"current_token\\":\\"${currentToken}\\"}"`)}

  returns {"success":1,"user_group":{"team_id":1,"token":"ugt_testing_…","name":"Example customer","provided_id":"customer-42","api_environment_tag":"Testing"}}

API documentation: ${origin}/docs
`
}
