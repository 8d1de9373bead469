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
import { formatTime, printJson, printLine, printTable } from './output.ts'
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
    .description('Make, list, replace, limit and revoke API tokens.')

  apiToken
    .command('create')
    .description('Make an API token. Standard output gets the token and nothing else; it is shown this once.')
    .addOption(environmentOption())
    .requiredOption('--name <name>', 'what it is for', parseName)
    .option('--scopes <scopes>', `what it may do: ${scopes.join(', ')}; comma separated`, parseScopes, [
      'write',
    ] as Scope[])
    .option(
      '--expires-in <duration>',
      'for how long it is valid: 30s, 15m, 12h, 90d, 2w (default: for good)',
      parseDuration,
    )
    .option(
      '--rate-limit <limit>',
      'how many calls it may make, a second and at once: 500:2000 (default: UGS_RATE_LIMIT)',
      parseLimit,
    )
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .action(create)

  apiToken
    .command('list')
    .description('List the API tokens of all workspaces. A token itself is never kept, and so not shown.')
    .addOption(jsonOption())
    .action(list)

  apiToken
    .command('rotate')
    .description(
      'Make an API token in the place of another, with its name, scopes and lifetime, and show it this once. The old one works on for a while.',
    )
    .argument('<id>', 'its id, as `ugs api-token list` shows it', parseCount)
    .addOption(
      new Option(
        '--overlap <duration>',
        'for how long the old one works on: 30s, 15m, 12h, 7d; 0, it stops at once',
      )
        .argParser(parseOverlap)
        .default(defaultOverlapMs, '24h'),
    )
    .addOption(jsonOption())
    .action(rotate)

  apiToken
    .command('limit')
    .description(
      'Change how many calls an API token may make. A running service takes note within UGS_API_TOKEN_CACHE_MS.',
    )
    .argument('<id>', 'its id, as `ugs api-token list` shows it', parseCount)
    .argument(
      '<limit>',
      'calls a second and at once: 500:2000; or default, for UGS_RATE_LIMIT',
      (text: string) => (text === 'default' ? null : parseLimit(text)),
    )
    .addOption(jsonOption())
    .action(limit)

  apiToken
    .command('revoke')
    .description('Revoke an API token for good. A running service takes note within UGS_API_TOKEN_CACHE_MS.')
    .argument('<id>', 'its id, as `ugs api-token list` shows it', parseCount)
    .addOption(jsonOption())
    .action(revoke)
}

async function create(options: CreateOptions): Promise<void> {
  const now = Date.now()
  const { apiToken: made, token } = await withStore(async (store) => {
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
    printJson({ ...shown(made, options.workspace), token })
    return
  }
  printLine(token)
  console.error(
    `Made API token ${made.id} "${made.name}" for ${made.environment} in the workspace "${options.workspace}", ` +
      `scopes ${made.scopes.join(', ')}, ${made.expiresAt === null ? 'without end' : `until ${formatTime(made.expiresAt)}`}. ` +
      'It is shown this once.',
  )
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const now = Date.now()
  const apiTokens = await withStore(async (store) => {
    const names = await namesOfWorkspaces(store)
    return (await store.apiTokens.list()).map((apiToken) => ({
      ...shown(apiToken, names.get(apiToken.workspaceId) ?? ''),
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
    const names = await namesOfWorkspaces(store)
    const old = (await store.apiTokens.list()).find((apiToken) => apiToken.id === id)
    if (old === undefined) throw noSuchApiToken(id)
    const command = { id, ...operator(), oldTokenValidUntil: now + overlap, now }
    return { names, result: await rotateApiToken(store, { ...command, environment: old.environment }) }
  })
  if (result.outcome === 'not_found') throw noSuchApiToken(id)
  if (result.outcome === 'superseded')
    throw new CommandError(`API token ${id} was already replaced, by ${result.replacedBy}; rotate that one`)
  if (result.outcome === 'unusable')
    throw new CommandError(`API token ${id} has ended; \`ugs api-token create\` makes another one`)
  const { apiToken, oldApiToken, token } = result
  const workspace = names.get(apiToken.workspaceId) ?? ''
  if (json) {
    printJson({ ...shown(apiToken, workspace), token, replaces: shown(oldApiToken, workspace) })
    return
  }
  printLine(token)
  console.error(
    `Made API token ${apiToken.id} "${apiToken.name}" in the place of ${id}, which works until ${formatTime(oldApiToken.expiresAt)}. ` +
      'It is shown this once.',
  )
}

async function limit(id: number, rateLimit: RateLimit | null, { json }: { json?: boolean }): Promise<void> {
  const limited = await withStore((store) =>
    store.apiTokens.limit({ id, rateLimit, ...operator(), now: Date.now() }),
  )
  if (limited === null) throw noSuchApiToken(id)
  const text = limited.rateLimit && rateLimitText(limited.rateLimit)
  if (json) printJson({ id: limited.id, name: limited.name, rate_limit: text })
  else {
    console.error(
      `API token ${limited.id} "${limited.name}" may make ${text === null ? 'as many calls as UGS_RATE_LIMIT says' : `${text} calls, a second and at once`}.`,
    )
  }
}

async function revoke(id: number, { json }: { json?: boolean }): Promise<void> {
  const revoked = await withStore((store) => store.apiTokens.revoke({ id, ...operator(), now: Date.now() }))
  if (revoked === null) throw noSuchApiToken(id)
  if (json) printJson({ id: revoked.id, name: revoked.name, revoked_at: formatTime(revoked.revokedAt) })
  else console.error(`API token ${revoked.id} "${revoked.name}" is revoked.`)
}

function noSuchApiToken(id: number): CommandError {
  return new CommandError(`there is no API token ${id}; \`ugs api-token list\` shows those there are`)
}

async function namesOfWorkspaces(store: Store): Promise<ReadonlyMap<number, string>> {
  return new Map((await store.workspaces.list()).map(({ id, name }) => [id, name]))
}

function shown(apiToken: ApiToken, workspace: string) {
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
  if (overlap > maxOverlapMs) throw new InvalidArgumentError('It must be 30d at most.')
  return overlap
}

function parseScopes(text: string): Scope[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  if (names.length === 0 || !names.every(isScope)) {
    throw new InvalidArgumentError(`Allowed are ${scopes.join(', ')}; comma separated.`)
  }
  return [...new Set(names)]
}
