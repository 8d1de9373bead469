import { InvalidArgumentError, Option, type Command } from 'commander'
import { defaultOverlapMs, isScope, scopes, type Scope } from '../domain/api-token/api-token.ts'
import { parseRateLimit, type RateLimit } from '../domain/api-token/rate-limit.ts'
import { environments, type Environment } from '../domain/environment.ts'
import type { Store } from '../domain/store.ts'
import { generateApiToken, hashToken } from '../domain/token/token.ts'
import { shownApiToken } from '../http/admin/api-tokens/responses.ts'
import { operator } from '../runtime/operator.ts'
import { CommandError } from './errors.ts'
import { Management, responseOf, withManagement, type ResponseOf } from './management.ts'
import {
  argument,
  environmentOption,
  jsonOption,
  parseCount,
  parseDuration,
  parseName,
  secondsUpTo,
  tenantScopeCommand,
} from './options.ts'
import { printOutput, shortTime, tableOf } from './output.ts'
import { withStore, type TenantScopeOptions } from './with-store.ts'

interface CreateOptions extends TenantScopeOptions {
  name: string
  scopes: Scope[]
  expiresIn?: number
  rateLimit?: RateLimit
}

interface JsonOption {
  json?: boolean
}

const resource = {
  load: async () => (await import('../http/admin/api-tokens/operations.ts')).apiTokenOperations,
}

type ShownApiToken = ResponseOf<'revokeApiToken'>['api_token']

export function addApiTokenCommands(program: Command): void {
  const apiToken = program
    .command('api-token')
    .description('Create, list, rotate, limit and revoke API tokens.')
  const commandOnOne = (name: string, description: string) =>
    apiToken
      .command(name)
      .description(description)
      .argument('<id>', 'id from `ugs api-token list`', parseCount)
      .addOption(jsonOption())

  addCreateCommand(apiToken)
  apiToken
    .command('generate')
    .description(
      'Generate an API token without a store, for a secret manager and a configuration file, and print it to standard output.',
    )
    .addOption(environmentOption())
    .addOption(jsonOption())
    .action(generate)
  apiToken
    .command('list')
    .description('List the API tokens of all workspaces. The tokens themselves are not stored.')
    .addOption(jsonOption())
    .action(list)

  commandOnOne(
    'rotate',
    'Issue a new API token with the same name, scopes and lifetime, and print it. It is shown only once. The old token keeps working during the overlap.',
  )
    .addOption(
      new Option(
        '--overlap <duration>',
        'time for which the old token keeps working: 30s, 15m, 12h or 7d; 0 stops it at once',
      )
        .argParser((text) => (text === '0' ? 0 : secondsUpTo('30d')(text)))
        .default(defaultOverlapMs / 1000, '24h'),
    )
    .action(rotate)

  commandOnOne(
    'limit',
    'Set the rate limit of an API token. Running services apply it within UGS_API_TOKEN_CACHE_MS.',
  )
    .argument(
      '<limit>',
      'requests per second and burst, such as 500:2000, or default for UGS_RATE_LIMIT',
      argument((text) => (text === 'default' ? null : parseRateLimit(text))),
    )
    .action(limit)

  commandOnOne(
    'revoke',
    'Revoke an API token permanently. Running services apply it within UGS_API_TOKEN_CACHE_MS.',
  ).action(revoke)
}

function addCreateCommand(apiToken: Command): void {
  tenantScopeCommand(
    apiToken,
    'create',
    'Create an API token and print it to standard output. It is shown only once.',
  )
    .requiredOption('--name <name>', 'purpose of the token', parseName)
    .option('--scopes <scopes>', `comma-separated permissions: ${scopes.join(', ')}`, parseScopes, [
      'write',
    ] as Scope[])
    .option(
      '--expires-in <duration>',
      'lifetime: 30s, 15m, 12h, 90d or 2w (default: never expires)',
      parseDuration,
    )
    .option(
      '--rate-limit <limit>',
      'requests per second and burst, such as 500:2000 (default: UGS_RATE_LIMIT)',
      argument(parseRateLimit),
    )
    .action(create)
}

async function create({ name, scopes, expiresIn, rateLimit, ...options }: CreateOptions): Promise<void> {
  const created = await withManagement(resource, options, ({ services, caller }) =>
    services.apiTokens.create(caller, {
      name,
      scopes,
      validForMs: expiresIn ?? null,
      rateLimit: rateLimit ?? null,
    }),
  )
  const { api_token: shown, token } = responseOf<'createApiToken'>((await resource.load()).createApiToken, {
    apiToken: shownApiToken(created.apiToken),
    token: created.token,
  })
  const { id, api_environment_tag: environment, expires_at: expiry } = shown
  const scope = `${scopes.length === 1 ? 'scope' : 'scopes'}: ${scopes.join(', ')}`
  const validity = expiry === null ? 'never expires' : `expires at ${shortTime(expiry)}`
  const message = `Created API token ${id} "${name}" for ${environment} in workspace "${options.workspace}" (${scope}, ${validity}). It is shown only once.`
  printOutput({ json: { ...shown, token }, secret: token, message }, options.json)
}

function generate({ environment, json }: JsonOption & { environment: Environment }): void {
  const token = generateApiToken(environment)
  const sha256 = hashToken(token).toString('hex')
  const shown = { api_environment_tag: environment, token, token_sha256: sha256 }
  printOutput(
    { json: shown, secret: token, message: `It works once a configuration has its SHA-256: ${sha256}` },
    json,
  )
}

async function list({ json }: JsonOption): Promise<void> {
  const now = new Date().toISOString()
  const apiTokens = await withStore(async (store) => {
    const all: (ShownApiToken & { workspace: string })[] = []
    for (const { id: workspaceId, name: workspace } of await store.workspaces.list()) {
      for (const environment of environments) {
        const management = await Management.open(resource, store, { workspaceId, environment, ...operator() })
        const { api_tokens } = await management.call('listApiTokens')
        all.push(...api_tokens.map((apiToken) => ({ ...apiToken, workspace })))
      }
    }
    return all.sort((a, b) => a.id - b.id)
  })
  const table = tableOf(
    [
      'id',
      'workspace',
      'api_environment_tag',
      'name',
      'scopes',
      ['STATE', (token) => stateOf(token, now)],
      'created_at',
      'expires_at',
      'last_used_at',
      'replaced_by',
      'rate_limit',
    ],
    apiTokens,
  )
  printOutput({ json: apiTokens, table }, json)
}

async function rotate(id: number, { overlap, json }: JsonOption & { overlap: number }): Promise<void> {
  const { api_token, token, replaces } = await withApiToken(id, (management) =>
    management.call('rotateApiToken', { params: { id }, body: { overlap_seconds: overlap } }),
  )
  const message = `Created API token ${api_token.id} "${api_token.name}" to replace ${id}, which works until ${shortTime(replaces.expires_at)}. It is shown only once.`
  printOutput({ json: { ...api_token, token, replaces }, secret: token, message }, json)
}

async function limit(id: number, rateLimit: RateLimit | null, { json }: JsonOption): Promise<void> {
  const limited = await withApiToken(id, ({ services, caller }) =>
    services.apiTokens.limit(caller, id, rateLimit),
  )
  const { api_token } = responseOf<'revokeApiToken'>((await resource.load()).revokeApiToken, {
    apiToken: shownApiToken(limited),
  })
  const text = api_token.rate_limit ?? 'of UGS_RATE_LIMIT'
  printOutput(
    { json: api_token, message: `API token ${id} "${api_token.name}" has the rate limit ${text}.` },
    json,
  )
}

async function revoke(id: number, { json }: JsonOption): Promise<void> {
  const { api_token } = await withApiToken(id, (management) =>
    management.call('revokeApiToken', { params: { id } }),
  )
  printOutput({ json: api_token, message: `Revoked API token ${id} "${api_token.name}".` }, json)
}

/** Opens the management of the workspace and environment of an API token. @throws CommandError if it does not exist */
function withApiToken<Result>(
  id: number,
  work: (management: Management<'rotateApiToken' | 'revokeApiToken'>) => Promise<Result>,
): Promise<Result> {
  return withStore(async (store: Store) => {
    const apiToken = (await store.apiTokens.list()).find((one) => one.id === id)
    if (apiToken === undefined)
      throw new CommandError(`there is no API token ${id}; see \`ugs api-token list\``)
    const { workspaceId, environment } = apiToken
    return work(await Management.open(resource, store, { workspaceId, environment, ...operator() }))
  })
}

/** @param now in ISO 8601, as the times of the token */
function stateOf({ revoked_at, expires_at }: ShownApiToken, now: string): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && expires_at <= now ? 'expired' : 'active'
}

function parseScopes(text: string): Scope[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  if (names.length === 0 || !names.every(isScope)) {
    throw new InvalidArgumentError(`It must be a comma-separated list of ${scopes.join(', ')}.`)
  }
  return [...new Set(names)]
}
