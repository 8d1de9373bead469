import { OperatorError } from '../domain/util/operator-error.ts'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { join, resolve } from 'node:path'
import { parseConfigFiles } from './config-files.ts'
import { parseDatabaseUrl } from './database-url.ts'
import { parseIssuer, signInProblems } from './sign-in.ts'
import { mappingModes } from '../domain/data-source/data-source.ts'
import { usageModes } from '../domain/usage/look.ts'
import { parseSecretKeys } from '../domain/secret-key/keyring.ts'
import { parseRoles } from '../domain/person/roles.ts'
import { parseRateLimit, type RateLimit } from '../domain/api-token/rate-limit.ts'
import type { StoreLocation } from '../store/location.ts'
import type { MigrateMode } from '../store/migrations.ts'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const consoleModes = ['on', 'off'] as const
const printModes = ['terminal', 'always'] as const
const switches = ['off', 'on'] as const
const migrateModes = ['auto', 'check'] as const satisfies readonly MigrateMode[]

interface Setting<T> {
  readonly description: string
  /** Default text. `undefined` if the setting is unset by default. */
  readonly default: string | undefined
  /** @throws RangeError with a message that continues the name of the setting */
  readonly parse: (text: string) => T
}

/**
 * All settings, by their environment variables. A test compares the table in `docs/configuration.md` and
 * `ugs serve --help` with this object.
 */
export const settings = {
  HOST: text('Address to listen on.', '127.0.0.1'),
  PORT: integer('Port to listen on. 0 picks a free port.', { default: 8080, min: 0, max: 65_535 }),
  UGS_PUBLIC_URL: optional(
    'URL of the service for its clients, with the path under which a proxy publishes it. Default is the origin of each request.',
    parsePublicUrl,
  ),
  UGS_DASHBOARD_URL: optional(
    'Page that shows your dashboards, with {session} for the token of a session, with which the console views as a customer.',
    parseDashboardUrl,
  ),
  UGS_FORWARD_AUTH_HEADER: token(
    'Header in which a gateway passes the token of a viewer to /forward-auth.',
    'X-Viewer-Token',
  ),
  UGS_FORWARD_AUTH_QUERY: token(
    'Query parameter of the viewer, or of /forward-auth, that has the token instead.',
    'viewer_token',
  ),
  UGS_FORWARD_AUTH_COOKIE: token('Cookie of the viewer that has the token instead.', 'viewer_token'),
  UGS_METRICS_PORT: optional(
    'Port of the Prometheus metrics at /metrics. 0 picks a free port. If unset, no metrics are collected.',
    wholeNumber({ min: 0, max: 65_535 }),
  ),
  UGS_METRICS_HOST: text('Address of the metrics port.', '127.0.0.1'),
  UGS_DATA_DIR: text(
    'Folder of the database and the secret keys, unless other settings provide them.',
    './data',
  ),
  DATABASE_URL: optional(
    'URL of the store: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE. Default is ugs.db in the data folder.',
    parseDatabaseUrl,
  ),
  UGS_SECRET_KEYS: optional(
    'Secret keys, a comma-separated list of id:base64 of 32 bytes. The first key encrypts; all keys decrypt. Default is a generated key in the data folder.',
    parseSecretKeys,
  ),
  UGS_SECRET_KEYS_FILE: optional(
    'File with the secret keys, instead of UGS_SECRET_KEYS. Running services apply changes within about a second.',
    (path) => resolve(path),
  ),
  UGS_CONFIG_FILE: optional(
    'Configuration file that the start applies to Customer, or ENVIRONMENT=PATH, separated by commas, in the workspace default.',
    parseConfigFiles,
  ),
  UGS_MIGRATE: choice(
    'Bring the tables up to date at the start (auto), or refuse to start with outdated tables (check).',
    migrateModes,
    'auto',
  ),
  UGS_MAPPING: choice(
    'Entries that mappings may have: any strings (free), or only registered schemas and data sources (registered).',
    mappingModes,
    'free',
  ),
  UGS_CONSOLE: choice('Web console at /console.', consoleModes, 'on'),
  UGS_CONSOLE_TOKEN_SIGN_IN: choice(
    'Sign-in to the console with a pasted API token. Sign-in links work anyway.',
    consoleModes,
    'on',
  ),
  UGS_OIDC_ISSUER: optional(
    'Issuer URL of the OpenID Connect provider at which people sign in to the console. Requires UGS_OIDC_CLIENT_ID, UGS_OIDC_ROLES and UGS_PUBLIC_URL.',
    parseIssuer,
  ),
  UGS_OIDC_CLIENT_ID: optional('Id of the console at the provider.', (text) => text),
  UGS_OIDC_CLIENT_SECRET_FILE: optional(
    'File with the client secret of the console at the provider. Without it, the console is a public client.',
    (path) => resolve(path),
  ),
  UGS_OIDC_ROLES: optional(
    'Roles of people by the values of a claim of their ID token, as JSON: claim, optional scope, and rules of value, workspace, environments and role.',
    parseRoles,
  ),
  UGS_PRINT_API_TOKENS: choice(
    'Where the first start without DATABASE_URL prints new API tokens: only on a terminal (terminal), or on any standard output (always).',
    printModes,
    'terminal',
  ),
  LOG_LEVEL: choice(
    `Lowest level of log messages on standard error: ${logLevels.join(', ')}.`,
    logLevels,
    'info',
  ),
  UGS_ACCESS_LOG: {
    description:
      'Access log on standard error: no requests (off), all requests (full), or a share of them plus every 5xx.',
    default: 'off',
    parse: parseAccessLog,
  },
  UGS_LOG_SETTINGS_FILE: optional(
    'File that overrides LOG_LEVEL and UGS_ACCESS_LOG at run time, written by ugs log-level. Default is log-settings in the data folder.',
    (path) => resolve(path),
  ),
  UGS_TRACES: choice(
    'Request traces, sent to the OpenTelemetry collector that the variables OTEL_* configure.',
    switches,
    'off',
  ),
  UGS_SLOW_STATEMENT_MS: integer(
    'Time from which a statement of the store is logged as slow, without its values; 0 turns it off.',
    { default: 1000, min: 0, max: 60_000 },
  ),
  UGS_DISK_WARNING_MB: integer(
    'Free space on the disk of a SQLite store, in MB, below which a warning is logged; 0 turns it off.',
    { default: 1024, min: 0, max: 10_485_760 },
  ),
  UGS_RATE_LIMIT: {
    description:
      'Default rate limit of an API token: requests per second, a colon and the burst; or no limit (off).',
    default: '100000:200000',
    parse: parseDefaultRateLimit,
  },
  UGS_AUTH_FAILURES_PER_MINUTE: integer(
    'Failed authentications of a client address per minute, beyond which they get 429; of sign-ins to the console, a tenth; 0 turns it off.',
    { default: 100, min: 0, max: 1_000_000 },
  ),
  UGS_TRUSTED_PROXIES: {
    description:
      'Proxies that report the client address in X-Forwarded-For: a comma-separated list of addresses and CIDR ranges.',
    default: 'none',
    parse: parseProxies,
  },
  UGS_MAX_BODY_BYTES: integer('Maximum size of a request body.', {
    default: 1_048_576,
    min: 1024,
    max: 1_048_576,
  }),
  UGS_MAX_HEADER_BYTES: integer('Maximum size of the request line and headers.', {
    default: 16_384,
    min: 4096,
    max: 131_072,
  }),
  UGS_HEADERS_TIMEOUT_MS: integer('Time limit for the headers of a request to arrive.', {
    default: 10_000,
    min: 100,
    max: 28_000,
  }),
  UGS_REQUEST_TIMEOUT_MS: integer(
    'Time limit for the body of a request to arrive. For an import, the longest pause.',
    {
      default: 20_000,
      min: 100,
      max: 28_000,
    },
  ),
  UGS_KEEP_ALIVE_TIMEOUT_MS: integer('Time after which an idle connection is closed.', {
    default: 20_000,
    min: 1,
    max: 28_000,
  }),
  UGS_DRAIN_MS: integer(
    'Time between SIGTERM and the end of listening. Meanwhile /readyz responds with 503, so that load balancers send no new requests.',
    { default: 1000, min: 0, max: 600_000 },
  ),
  UGS_CLOSE_TIMEOUT_MS: integer('Time limit for requests in flight during shutdown.', {
    default: 10_000,
    min: 0,
    max: 600_000,
  }),
  UGS_LOCK_TIMEOUT_MS: integer(
    'Time limit for waiting on a lock of another process: for writes on SQLite, on a row on PostgreSQL.',
    { default: 2000, min: 0, max: 20_000 },
  ),
  UGS_POSTGRES_POOL_SIZE: integer('Maximum number of PostgreSQL connections per process.', {
    default: 10,
    min: 2,
    max: 1000,
  }),
  UGS_POSTGRES_CONNECT_TIMEOUT_MS: integer(
    'Time limit for opening a PostgreSQL connection or waiting for a free one.',
    {
      default: 2000,
      min: 100,
      max: 20_000,
    },
  ),
  UGS_POSTGRES_STATEMENT_TIMEOUT_MS: integer('Time limit for one PostgreSQL statement.', {
    default: 5000,
    min: 100,
    max: 20_000,
  }),
  UGS_POSTGRES_IDLE_TIMEOUT_MS: integer('Time after which an unused PostgreSQL connection is closed.', {
    default: 30_000,
    min: 1000,
    max: 3_600_000,
  }),
  UGS_POSTGRES_DEADLINE_MS: integer(
    'Time for which a request is retried while PostgreSQL is unavailable, before it gets a 503.',
    { default: 5000, min: 100, max: 20_000 },
  ),
  UGS_API_TOKEN_CACHE_MS: integer(
    'Time for which an API token is cached. An API token that another process revoked may work for that long.',
    { default: 1000, min: 0, max: 5000 },
  ),
  UGS_EVENT_RETENTION: integer('Days for which events can be read.', { default: 7, min: 1, max: 365 }),
  UGS_USAGE: choice(
    'Usage that is recorded: none (off), the days on which user groups looked (user_groups), or also their viewers and the days of each (viewers).',
    usageModes,
    'user_groups',
  ),
  UGS_USAGE_RETENTION: integer('Months before the current one for which usage is kept.', {
    default: 13,
    min: 1,
    max: 60,
  }),
  UGS_MAX_EVENT_CONNECTIONS: integer(
    'Maximum number of connections to /events per process. One workspace can have half of them.',
    { default: 1000, min: 0, max: 100_000 },
  ),
  UGS_MAX_WEBHOOK_ENDPOINTS: integer(
    'Maximum number of webhook endpoints of a workspace, in both environments together.',
    { default: 500, min: 0, max: 10_000 },
  ),
  UGS_WEBHOOK_HTTP: choice(
    'Webhook endpoints with http URLs. Without it, only https is allowed.',
    switches,
    'off',
  ),
  UGS_WEBHOOK_PRIVATE_ADDRESSES: choice(
    'Webhook endpoints at private and loopback addresses. Link-local and metadata addresses are always refused.',
    switches,
    'off',
  ),
  UGS_RESPONSE_CACHE_MB: integer('Maximum size of the response cache, in MB; 0 turns it off.', {
    default: 96,
    min: 0,
    max: 1024,
  }),
} as const satisfies Record<string, Setting<unknown>>

type Settings = typeof settings

/** Values of the settings, by the names of their environment variables. */
export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never
} & {
  /** Location of the store: `DATABASE_URL` or the default. */
  readonly storeLocation: StoreLocation
  /** File of the secret keys, used unless `UGS_SECRET_KEYS` is set. */
  readonly secretKeyFile: string
  readonly logSettingsFile: string
}

/** The environment has invalid settings. `problems` lists all of them. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration is not valid:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/**
 * Reads the configuration from the environment. An empty variable counts as unset. White space at the ends of a value is ignored.
 * @throws ConfigError with all problems at once
 */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    try {
      const text = valueOf(environment[name]) ?? setting.default
      return [name, text === undefined ? undefined : setting.parse(text)]
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      problems.push(`${name}: ${error.message}`)
      return [name, undefined]
    }
  })
  const config = Object.fromEntries(entries) as Omit<
    Config,
    'storeLocation' | 'secretKeyFile' | 'logSettingsFile'
  >
  if (config.UGS_SECRET_KEYS !== undefined && config.UGS_SECRET_KEYS_FILE !== undefined)
    problems.push('UGS_SECRET_KEYS_FILE: UGS_SECRET_KEYS is also set; remove one of them')
  problems.push(...signInProblems(environment))
  if (problems.length > 0) throw new ConfigError(problems)
  const embedded = { kind: 'sqlite', path: resolve(config.UGS_DATA_DIR, 'ugs.db') } as const
  return Object.freeze({
    ...config,
    storeLocation: config.DATABASE_URL ?? embedded,
    secretKeyFile: config.UGS_SECRET_KEYS_FILE ?? join(config.UGS_DATA_DIR, 'secret-keys'),
    logSettingsFile: config.UGS_LOG_SETTINGS_FILE ?? join(config.UGS_DATA_DIR, 'log-settings'),
  })
}

/**
 * Returns the value of a variable, or undefined if it is empty. Files with secrets end with a line break, and `docker --env-file` keeps
 * quotes.
 * @throws RangeError
 */
function valueOf(variable = ''): string | undefined {
  const value = variable.trim()
  // A secret without content must not select the default.
  if (value === '' && variable !== '') throw new RangeError('has only white space; set a value, or unset it')
  if (/^(["']).*\1$/s.test(value)) throw new RangeError('is in quotes; remove them')
  return value || undefined
}

function text(description: string, byDefault: string): Setting<string> {
  return { description, default: byDefault, parse: (text) => text }
}

/** A token as of RFC 9110, section 5.6.2, except Authorization, which has the credentials of the gateway. */
function token(description: string, byDefault: string): Setting<string> {
  return {
    description,
    default: byDefault,
    parse: (text) => {
      if (/^[\w!#$%&'*+.^`|~-]+$/.test(text) && text.toLowerCase() !== 'authorization') return text
      throw new RangeError('must be a name without white space and separators, and not Authorization')
    },
  }
}

function optional<T>(description: string, parse: (text: string) => T): Setting<T | undefined> {
  return { description, default: undefined, parse }
}

function choice<T extends string>(description: string, values: readonly T[], byDefault: T): Setting<T> {
  return {
    description,
    default: byDefault,
    parse: (text) => {
      const value = values.find((candidate) => candidate === text)
      if (value === undefined) throw new RangeError(`must be one of ${values.join(', ')}`)
      return value
    },
  }
}

/** Returns the share of requests to log, or undefined for no access log. */
function parseAccessLog(text: string): number | undefined {
  if (text === 'off') return undefined
  if (text === 'full') return 1
  const share = Number(text)
  if (/^\d*\.?\d+$/.test(text) && share <= 1) return share
  throw new RangeError('must be off, full, or a share between 0 and 1')
}

/** Returns the URL without a slash at its end. Its path needs no escaping in pages and cookies. */
function parseDashboardUrl(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text) && text.split('{session}').length === 2) return text
  throw new RangeError(
    'must be a URL with {session}, such as https://app.example.com/dashboards#session={session}',
  )
}

function parsePublicUrl(text: string): string {
  const { href = '', origin = '', pathname = '' } = URL.canParse(text) ? new URL(text) : {}
  const url = origin + pathname.replace(/\/$/, '')
  if (!/^https?:\/\/[^/]+(\/[\w.~-]+)*$/.test(url) || ![url, `${url}/`].includes(href))
    throw new RangeError('must have the form https://HOST or https://HOST/PATH')
  return url
}

function parseDefaultRateLimit(text: string): RateLimit | null {
  if (text === 'off') return null
  try {
    return parseRateLimit(text)
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`${error.message}; or off`) : error
  }
}

function parseProxies(text: string): BlockList {
  const proxies = new BlockList()
  if (text === 'none') return proxies
  for (const range of text.split(',')) {
    const [address = '', prefix, ...rest] = range.trim().split('/')
    const [family, bits] = isIPv6(address) ? (['ipv6', 128] as const) : (['ipv4', 32] as const)
    const length = prefix === undefined ? bits : Number(prefix)
    if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix ?? '0') || length > bits)
      throw new RangeError(
        'must be none, or a comma-separated list of addresses and ranges such as 10.0.0.0/8',
      )
    proxies.addSubnet(address, length, family)
  }
  return proxies
}

function integer(description: string, range: Range & { default: number }): Setting<number> {
  return { description, default: String(range.default), parse: wholeNumber(range) }
}

interface Range {
  readonly min: number
  readonly max: number
}

function wholeNumber({ min, max }: Range): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new RangeError(`must be a whole number from ${min} to ${max}`)
    }
    return value
  }
}
