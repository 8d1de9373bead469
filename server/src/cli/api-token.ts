import { InvalidArgumentError, Option, type Command } from 'commander'
import {
  defaultOverlapMs,
  isScope,
  isUsable,
  maxOverlapMs,
  scopes,
  type ApiToken,
  type Scope,
} from '../domain/api-token/api-token.ts'
import { createApiToken, rotateApiToken } from '../domain/api-token/api-token-management.ts'
import type { Environment } from '../domain/environment.ts'
import type { Store } from '../domain/store.ts'
import { parseRateLimit, rateLimitText, type RateLimit } from '../domain/api-token/rate-limit.ts'
import { operator } from '../runtime/operator.ts'
import { CommandError } from './errors.ts'
import {
  environmentOption,
  jsonOption,
  parseCount,
  parseDuration,
  parseName,
  workspaceOption,
} from './options.ts'
import { formatTime, printJson, printLine, printMessage, printTable } from './output.ts'
import { callerOf, withStore } from './with-store.ts'

interface CreateOptions {
  environment: Environment
  name: string
  scopes: Scope[]
  expiresIn?: number
  rateLimit?: RateLimit
  workspace: string
  json?: boolean
}

export function addApiTokenCommands(program: Command): void {
  const apiToken = program
    .command('api-token')
    .description('Create, list, rotate, limit and revoke API tokens.')

  addCreateCommand(apiToken)

  apiToken
    .command('list')
    .description('List the API tokens of all workspaces. The tokens themselves are not stored.')
    .addOption(jsonOption())
    .action(list)

  apiToken
    .command('rotate')
    .description(
      'Issue a new API token with the same name, scopes and lifetime, and print it. It is shown only once. The old token keeps working during the overlap.',
    )
    .argument('<id>', 'id from `ugs api-token list`', parseCount)
    .addOption(
      new Option(
        '--overlap <duration>',
        'time for which the old token keeps working: 30s, 15m, 12h or 7d; 0 stops it at once',
      )
        .argParser(parseOverlap)
        .default(defaultOverlapMs, '24h'),
    )
    .addOption(jsonOption())
    .action(rotate)

  apiToken
    .command('limit')
    .description(
      'Set the rate limit of an API token. Running services apply it within UGS_API_TOKEN_CACHE_MS.',
    )
    .argument('<id>', 'id from `ugs api-token list`', parseCount)
    .argument(
      '<limit>',
      'requests per second and burst, such as 500:2000, or default for UGS_RATE_LIMIT',
      (text: string) => (text === 'default' ? null : parseLimit(text)),
    )
    .addOption(jsonOption())
    .action(limit)

  apiToken
    .command('revoke')
    .description('Revoke an API token permanently. Running services apply it within UGS_API_TOKEN_CACHE_MS.')
    .argument('<id>', 'id from `ugs api-token list`', parseCount)
    .addOption(jsonOption())
    .action(revoke)
}

function addCreateCommand(apiToken: Command): void {
  apiToken
    .command('create')
    .description('Create an API token and print it to standard output. It is shown only once.')
    .addOption(environmentOption())
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
      parseLimit,
    )
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(create)
}

async function create(options: CreateOptions): Promise<void> {
  const now = Date.now()
  const { apiToken, token } = await withStore(async (store) => {
    return createApiToken(store, {
      ...(await callerOf(store, options)),
      name: options.name,
      scopes: options.scopes,
      createdAt: now,
      expiresAt: options.expiresIn === undefined ? null : now + options.expiresIn,
      rateLimit: options.rateLimit ?? null,
    })
  })
  if (options.json) {
    printJson({ ...fieldsOf(apiToken, options.workspace), token })
    return
  }
  printLine(token)
  printMessage(
    `Created API token ${apiToken.id} "${apiToken.name}" for ${apiToken.environment} in workspace "${options.workspace}" ` +
      `(${apiToken.scopes.length === 1 ? 'scope' : 'scopes'}: ${apiToken.scopes.join(', ')}, ` +
      `${apiToken.expiresAt === null ? 'never expires' : `expires at ${formatTime(apiToken.expiresAt)}`}). ` +
      'It is shown only once.',
  )
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const now = Date.now()
  const apiTokens = await withStore(async (store) => {
    const names = await readWorkspaceNames(store)
    return (await store.apiTokens.list()).map((apiToken) => ({
      ...fieldsOf(apiToken, names.get(apiToken.workspaceId) ?? ''),
      state: stateOf(apiToken, now),
    }))
  })
  if (json) {
    printJson(apiTokens)
    return
  }
  printTable(
    [
      'ID',
      'WORKSPACE',
      'ENVIRONMENT',
      'NAME',
      'SCOPES',
      'STATE',
      'CREATED',
      'EXPIRES',
      'LAST_USED',
      'REPLACED_BY',
      'RATE_LIMIT',
    ],
    apiTokens.map((token) => [
      token.id,
      token.workspace,
      token.environment,
      token.name,
      token.scopes.join(','),
      token.state,
      token.created_at,
      token.expires_at,
      token.last_used_at,
      token.replaced_by,
      token.rate_limit,
    ]),
  )
}

async function rotate(id: number, { overlap, json }: { overlap: number; json?: boolean }): Promise<void> {
  const now = Date.now()
  const { names, result } = await withStore(async (store) => {
    const names = await readWorkspaceNames(store)
    const old = (await store.apiTokens.list()).find((apiToken) => apiToken.id === id)
    if (old === undefined) throw noSuchApiToken(id)
    const command = { id, ...operator(), oldTokenValidUntil: now + overlap, now }
    return { names, result: await rotateApiToken(store, { ...command, environment: old.environment }) }
  })
  if (result.outcome === 'not_found') throw noSuchApiToken(id)
  if (result.outcome === 'superseded')
    throw new CommandError(`API token ${id} was already replaced by ${result.replacedBy}; rotate that one`)
  if (result.outcome === 'unusable')
    throw new CommandError(
      `API token ${id} has expired or is revoked; create a new one with \`ugs api-token create\``,
    )
  const { apiToken, oldApiToken, token } = result
  const workspace = names.get(apiToken.workspaceId) ?? ''
  if (json) {
    printJson({ ...fieldsOf(apiToken, workspace), token, replaces: fieldsOf(oldApiToken, workspace) })
    return
  }
  printLine(token)
  printMessage(
    `Created API token ${apiToken.id} "${apiToken.name}" to replace ${id}, which works until ${formatTime(oldApiToken.expiresAt)}. ` +
      'It is shown only once.',
  )
}

async function limit(id: number, rateLimit: RateLimit | null, { json }: { json?: boolean }): Promise<void> {
  const apiToken = await withStore((store) =>
    store.apiTokens.limit({ id, rateLimit, ...operator(), now: Date.now() }),
  )
  if (apiToken === null) throw noSuchApiToken(id)
  const text = apiToken.rateLimit && rateLimitText(apiToken.rateLimit)
  if (json) printJson({ id: apiToken.id, name: apiToken.name, rate_limit: text })
  else {
    printMessage(
      `API token ${apiToken.id} "${apiToken.name}" has the rate limit ${text ?? 'of UGS_RATE_LIMIT'}.`,
    )
  }
}

async function revoke(id: number, { json }: { json?: boolean }): Promise<void> {
  const apiToken = await withStore((store) => store.apiTokens.revoke({ id, ...operator(), now: Date.now() }))
  if (apiToken === null) throw noSuchApiToken(id)
  if (json) printJson({ id: apiToken.id, name: apiToken.name, revoked_at: formatTime(apiToken.revokedAt) })
  else printMessage(`Revoked API token ${apiToken.id} "${apiToken.name}".`)
}

function noSuchApiToken(id: number): CommandError {
  return new CommandError(`there is no API token ${id}; see \`ugs api-token list\``)
}

async function readWorkspaceNames(store: Store): Promise<ReadonlyMap<number, string>> {
  return new Map((await store.workspaces.list()).map(({ id, name }) => [id, name]))
}

function fieldsOf(apiToken: ApiToken, workspace: string) {
  return {
    id: apiToken.id,
    workspace,
    environment: apiToken.environment,
    name: apiToken.name,
    scopes: apiToken.scopes,
    created_at: formatTime(apiToken.createdAt),
    expires_at: formatTime(apiToken.expiresAt),
    revoked_at: formatTime(apiToken.revokedAt),
    last_used_at: formatTime(apiToken.lastUsedAt),
    replaced_by: apiToken.replacedBy,
    rate_limit: apiToken.rateLimit && rateLimitText(apiToken.rateLimit),
  }
}

function stateOf(apiToken: ApiToken, now: number): 'active' | 'revoked' | 'expired' {
  if (isUsable(apiToken, now)) return 'active'
  return apiToken.revokedAt === null ? 'expired' : 'revoked'
}

function parseLimit(text: string): RateLimit {
  try {
    return parseRateLimit(text)
  } catch (error) {
    throw error instanceof RangeError ? new InvalidArgumentError(`It ${error.message}.`) : error
  }
}

function parseOverlap(text: string): number {
  if (text === '0') return 0
  const overlap = parseDuration(text)
  if (overlap > maxOverlapMs) throw new InvalidArgumentError('It must be at most 30d.')
  return overlap
}

function parseScopes(text: string): Scope[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  if (names.length === 0 || !names.every(isScope)) {
    throw new InvalidArgumentError(`It must be a comma-separated list of ${scopes.join(', ')}.`)
  }
  return [...new Set(names)]
}
