import { join, resolve } from 'node:path'
import { parseDatabaseUrl } from './database-url.ts'
import { mappingModes } from '../domain/data-source/data-source.ts'
import { parseSecretKeys } from '../domain/secret-key/keyring.ts'
import { parseRateLimit, type RateLimit } from '../domain/api-token/rate-limit.ts'
import type { StoreLocation } from '../store/location.ts'
import type { MigrateMode } from '../store/migrations.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const consoleModes = ['on', 'off'] as const
const tracesModes = ['off', 'on'] as const
const migrateModes = ['auto', 'check'] as const satisfies readonly MigrateMode[]

interface Setting<T> {
  readonly meaning: string
  /** As it would be written in the environment; `undefined` where the setting is unset by default. */
  readonly default: string | undefined
  /** @throws RangeError whose message follows the name of the setting. */
  readonly parse: (text: string) => T
}

/**
 * All settings, each by its environment variable. The table in `docs/configuration.md` and `ugs serve --help` say the
 * same, and a test holds them to it.
 */
export const settings = {
  HOST: text('Address to listen on.', '127.0.0.1'),
  PORT: integer('Port to listen on; 0 picks a free one.', { default: 8080, min: 0, max: 65_535 }),
  UGS_METRICS_PORT: optional(
    'Port on which Prometheus finds the metrics, at /metrics; 0 picks a free one. Unset, nothing is measured.',
    wholeNumber({ min: 0, max: 65_535 }),
  ),
  UGS_METRICS_HOST: text('Address of UGS_METRICS_PORT.', '127.0.0.1'),
  UGS_DATA_DIR: text(
    'Folder of what the service keeps on its own: the database and the secret key, where they are not set.',
    './data',
  ),
  DATABASE_URL: optional(
    'Where the store is: sqlite:PATH, or postgres://USER:PASSWORD@HOST:PORT/DATABASE. Unset, it is ugs.db in the data folder.',
    parseDatabaseUrl,
  ),
  UGS_SECRET_KEYS: optional(
    'Keys that user group tokens are sealed with: id:base64 of 32 bytes, comma separated; the first seals, all open. Unset, one is made and kept in the data folder.',
    parseSecretKeys,
  ),
  UGS_SECRET_KEYS_FILE: optional(
    'File that holds the same, in the place of UGS_SECRET_KEYS; a running service takes note of a change within a second or so.',
    (path) => resolve(path),
  ),
  UGS_MIGRATE: choice(
    'Whether a start brings the tables of the store up to date (auto), or refuses to go on where they are not (check).',
    migrateModes,
    'auto',
  ),
  UGS_MAPPING: choice(
    'What mappings may hold: any strings (free), or only schemas and data sources that are registered (registered).',
    mappingModes,
    'free',
  ),
  UGS_CONSOLE: choice('Whether the web console is served at /console.', consoleModes, 'on'),
  LOG_LEVEL: choice(
    `What is logged to standard error, besides the access log: ${logLevels.join(', ')}.`,
    logLevels,
    'info',
  ),
  UGS_ACCESS_LOG: {
    meaning:
      'Which calls are logged to standard error: none (off), all (full), or this share of them and all that fail with 5xx.',
    default: 'off',
    parse: parseAccessLog,
  },
  UGS_TRACES: choice(
    'Whether traces of calls are sent to an OpenTelemetry collector, which the variables OTEL_* name.',
    tracesModes,
    'off',
  ),
  UGS_RATE_LIMIT: {
    meaning:
      'How many calls an API token may make, unless it has a limit of its own: a second, and after a colon how many at once; or none (off).',
    default: '100000:200000',
    parse: parseDefaultRateLimit,
  },
  UGS_MAX_BODY_BYTES: integer('Size of a body, at most.', {
    default: 1_048_576,
    min: 1024,
    max: 1_048_576,
  }),
  UGS_MAX_HEADER_BYTES: integer("Size of a request's line and headers, at most.", {
    default: 16_384,
    min: 4096,
    max: 131_072,
  }),
  UGS_HEADERS_TIMEOUT_MS: integer('Time for the headers of a request to arrive.', {
    default: 10_000,
    min: 100,
    max: 28_000,
  }),
  UGS_REQUEST_TIMEOUT_MS: integer(
    'Time for the body of a request to arrive; of an import, the longest pause in it.',
    {
      default: 20_000,
      min: 100,
      max: 28_000,
    },
  ),
  UGS_KEEP_ALIVE_TIMEOUT_MS: integer('Time that an idle connection is kept for the next request.', {
    default: 20_000,
    min: 1,
    max: 28_000,
  }),
  UGS_DRAIN_MS: integer(
    'Time between SIGTERM and the end of listening, in which /readyz answers 503 so that a load balancer moves on.',
    { default: 1000, min: 0, max: 600_000 },
  ),
  UGS_CLOSE_TIMEOUT_MS: integer('Time for requests under way to finish when the service stops.', {
    default: 10_000,
    min: 0,
    max: 600_000,
  }),
  UGS_LOCK_TIMEOUT_MS: integer(
    "Time to wait for another process's lock: on the whole database with SQLite, where changes wait and reads do not, on a row with PostgreSQL.",
    { default: 2000, min: 0, max: 20_000 },
  ),
  UGS_POSTGRES_POOL_SIZE: integer('Connections to PostgreSQL, at most, of each process.', {
    default: 10,
    min: 2,
    max: 1000,
  }),
  UGS_POSTGRES_CONNECT_TIMEOUT_MS: integer(
    'Time for a connection to PostgreSQL to be made, or to become free.',
    {
      default: 2000,
      min: 100,
      max: 20_000,
    },
  ),
  UGS_POSTGRES_STATEMENT_TIMEOUT_MS: integer('Time for PostgreSQL to run one statement.', {
    default: 5000,
    min: 100,
    max: 20_000,
  }),
  UGS_POSTGRES_IDLE_TIMEOUT_MS: integer(
    'Time after which a connection to PostgreSQL that is not used is closed.',
    {
      default: 30_000,
      min: 1000,
      max: 3_600_000,
    },
  ),
  UGS_POSTGRES_DEADLINE_MS: integer(
    'Time for which a call is tried again while PostgreSQL cannot be reached; then it is answered 503.',
    { default: 5000, min: 100, max: 20_000 },
  ),
  UGS_API_TOKEN_CACHE_MS: integer(
    'Time for which a looked-up API token is trusted: a revoked one may go on working for as long.',
    { default: 1000, min: 0, max: 5000 },
  ),
  UGS_RESPONSE_CACHE_MB: integer('Maximum size of the response cache, in MB; 0 turns it off.', {
    default: 64,
    min: 0,
    max: 1024,
  }),
} as const satisfies Record<string, Setting<unknown>>

type Settings = typeof settings

/** The settings, read: by the names of their environment variables. */
export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never
} & {
  /** Where the store is, whether or not `DATABASE_URL` says so. */
  readonly storeLocation: StoreLocation
  /** Where the secret keys are, unless `UGS_SECRET_KEYS` brings them. */
  readonly secretKeyFile: string
}

/** The environment does not make a configuration; `problems` lists everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration is not valid:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/**
 * Reads the configuration from the environment; an empty variable counts as unset.
 * @throws ConfigError with every problem at once.
 */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const text = environment[name] === '' ? setting.default : (environment[name] ?? setting.default)
    try {
      return [name, text === undefined ? undefined : setting.parse(text)]
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      problems.push(`${name}: ${error.message}`)
      return [name, undefined]
    }
  })
  const config = Object.fromEntries(entries) as Omit<Config, 'storeLocation' | 'secretKeyFile'>
  if (config.UGS_SECRET_KEYS !== undefined && config.UGS_SECRET_KEYS_FILE !== undefined)
    problems.push('UGS_SECRET_KEYS_FILE: UGS_SECRET_KEYS is set too; leave one of them out')
  if (problems.length > 0) throw new ConfigError(problems)
  const embedded = { kind: 'sqlite', path: resolve(config.UGS_DATA_DIR, 'ugs.db') } as const
  return Object.freeze({
    ...config,
    storeLocation: config.DATABASE_URL ?? embedded,
    secretKeyFile: config.UGS_SECRET_KEYS_FILE ?? join(config.UGS_DATA_DIR, 'secret-keys'),
  })
}

function text(meaning: string, byDefault: string): Setting<string> {
  return { meaning, default: byDefault, parse: (text) => text }
}

function optional<T>(meaning: string, parse: (text: string) => T): Setting<T | undefined> {
  return { meaning, default: undefined, parse }
}

function choice<T extends string>(meaning: string, values: readonly T[], byDefault: T): Setting<T> {
  return {
    meaning,
    default: byDefault,
    parse: (text) => {
      const value = values.find((candidate) => candidate === text)
      if (value === undefined) throw new RangeError(`must be one of ${values.join(', ')}`)
      return value
    },
  }
}

/** The share of calls to log; undefined where there is no access log. */
function parseAccessLog(text: string): number | undefined {
  if (text === 'off') return undefined
  if (text === 'full') return 1
  const share = Number(text)
  if (/^\d*\.?\d+$/.test(text) && share <= 1) return share
  throw new RangeError('must be off, full, or a share, 0 to 1')
}

function parseDefaultRateLimit(text: string): RateLimit | null {
  if (text === 'off') return null
  try {
    return parseRateLimit(text)
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`${error.message}; or off`) : error
  }
}

function integer(meaning: string, range: Range & { default: number }): Setting<number> {
  return { meaning, default: String(range.default), parse: wholeNumber(range) }
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
