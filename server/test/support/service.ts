import { spawn, type ChildProcess } from 'node:child_process'
import { writeSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ugsFile } from './build-output.ts'
import { createApiToken } from './command.ts'
import { databaseWithTokens, type DatabaseWithTokens } from './database.ts'
import { lifo, type Scope } from './scope.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { programRun } from './in-process.ts'

export interface RunningService {
  readonly origin: string
  readonly dataFolder: string
  /** The service's database on PostgreSQL. */
  readonly databaseUrl: string | undefined
  /** Output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** API tokens: those that the first start printed on SQLite, those of the template database on PostgreSQL. */
  readonly tokens: { readonly Customer: string; readonly Testing: string }
  /** Runs a `ugs` command on the same store, in this process. Commands run one after the other. */
  readonly ugs: (...args: string[]) => Promise<CommandResult>
  /** Runs a `ugs` command on the same store, in a separate process. */
  readonly ugsInOwnProcess: (...args: string[]) => Promise<CommandResult>
  /** Stops the service as a signal does, and resolves with the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
  readonly pid: number
  /** Resolves when a line of the log contains the text. */
  readonly logged: (text: string) => Promise<void>
}

export interface CommandResult {
  /** The exit code. Null if a signal ended the process. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export { temporaryFolder } from './temporary-folder.ts'
export { ugsFile } from './build-output.ts'

type Environment = Record<string, string>

/** Returns a minimal environment, so that no setting of this machine affects the process. */
function environmentOf(extra: Environment): Environment {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...extra }
}

/** Returns true if a command takes the whole process: workers, traces of a process, options of Node.js. */
const needsNewProcess = (args: readonly string[], environment: Environment) =>
  args.includes('--workers') ||
  Object.keys(environment).some((name) => /^(LD_|NODE_|OTEL_|TMPDIR$|UGS_TRACES$)/.test(name))

/** Runs a `ugs` command that ends by itself, in this process if possible. */
export async function runUgs(
  args: readonly string[],
  environment: Environment,
  stdin = '',
): Promise<CommandResult> {
  return args[0] === 'serve' || needsNewProcess(args, environment)
    ? runUgsInNewProcess(args, environment, stdin)
    : runUgsInThisProcess(args, environment, stdin)
}

/** Runs a `ugs` command that neither serves nor needs options of Node.js. */
export async function runUgsInThisProcess(
  args: readonly string[],
  environment: Environment,
  stdin = '',
): Promise<CommandResult> {
  const { buildProgram, reportError } = await import('./program.ts')
  const { run, stdout, stderr } = programRun(args, environmentOf(environment), stdin)
  const code = await run(() => buildProgram().parseAsync(args, { from: 'user' })).then(
    () => 0,
    (error: unknown) => run(() => reportError(error)),
  )
  return { code, stdout: stdout(), stderr: stderr() }
}

/** Runs a `ugs` command as a user does, in a new process. */
export async function runUgsInNewProcess(
  args: readonly string[],
  environment: Environment,
  stdin = '',
): Promise<CommandResult> {
  const child = spawn(process.execPath, [ugsFile, ...args], { env: environmentOf(environment) })
  const output = collect(child)
  // The program may end without reading its input.
  child.stdin.on('error', () => undefined).end(stdin)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: output.stdout(), stderr: output.stderr() }
}

/** Starts one service for a suite. Call this in a `describe`, and the returned function in its tests. */
export function sharedService(environment: Environment = {}): () => RunningService {
  let service: RunningService
  const scope = lifo({ after })
  before(async () => {
    service = await startService(scope, environment)
  })
  return () => service
}

/**
 * Starts the service in this process, on a free port and by default in a new data folder. If UGS_TEST_STORE is `postgres`,
 * each data folder gets a new database.
 */
export function startService(
  t: Scope,
  environment: Environment = {},
  args: readonly string[] = [],
): Promise<RunningService> {
  return needsNewProcess(args, environment)
    ? startNewProcess(t, environment, args)
    : start(t, environment, serveInProcess)
}

/** Starts the service as a user does, in a new process. Otherwise the same as `startService`. */
export function startNewProcess(
  t: Scope,
  environment: Environment = {},
  args: readonly string[] = [],
): Promise<RunningService> {
  return start(t, environment, (settings) => serveInNewProcess(settings, args))
}

/** A process that runs `ugs serve`. */
interface ServingProcess extends Pick<RunningService, 'stdout' | 'stderr' | 'stop' | 'pid'> {
  /** Resolves with the exit code when the service ends. */
  readonly ended: Promise<number | null>
  /** Ends the service and releases the process. */
  readonly release: () => Promise<void>
}

async function start(
  t: Scope,
  environment: Environment,
  serve: (settings: Environment) => ServingProcess | Promise<ServingProcess>,
): Promise<RunningService> {
  const scope = lifo(t)
  const dataFolder = environment.UGS_DATA_DIR ?? join(temporaryFolder(scope), 'data')
  const isOnPostgres = process.env.UGS_TEST_STORE === 'postgres'
  const database =
    isOnPostgres && environment.DATABASE_URL === undefined ? await databaseOf(dataFolder, scope) : undefined
  const databaseUrl = isOnPostgres ? (database?.url ?? environment.DATABASE_URL) : undefined
  const settings = {
    PORT: '0',
    UGS_DATA_DIR: dataFolder,
    UGS_DRAIN_MS: '0',
    UGS_PRINT_API_TOKENS: 'always',
    // Tests send many wrong credentials from one address.
    UGS_AUTH_FAILURES_PER_MINUTE: '0',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...environment,
  }
  const serving = await serve(settings)
  // Runs first, because the service uses the folder and the database.
  scope.after(() => serving.release())
  const { stdout, stderr, stop, pid } = serving
  const origin = await listening(serving)
  const ugs = inTurn((...args: string[]) => runUgs(args, settings))
  const token = (environment: string) => new RegExp(`uga_${environment}_\\w+`).exec(stdout())?.[0] ?? ''
  const created = isOnPostgres ? (database?.tokens ?? (await issueTokens({ ugs }))) : undefined
  return {
    ...{ origin, dataFolder, databaseUrl, stdout, stderr, stop, pid, ugs },
    get tokens() {
      return created ?? { Customer: token('customer'), Testing: token('testing') }
    },
    ugsInOwnProcess: (...args: string[]) => runUgsInNewProcess(args, settings),
    logged: async (text) => {
      while (!stderr().includes(text)) await sleep(pollMs)
    },
  }
}

async function serveInProcess(settings: Environment): Promise<ServingProcess> {
  const { serve, readConfig, reportError, startLines, describeLocation } = await import('./program.ts')
  const environment = environmentOf(settings)
  const { run, stdout, stderr } = programRun(['serve'], environment)
  const started = run(async () => {
    const config = readConfig(environment)
    const service = await serve(config)
    writeSync(
      1,
      `${startLines({ ...service, store: describeLocation(config.storeLocation), hasConsole: false }, Date.now())}\n`,
    )
    return { service, config }
  })
  let setEnded: (code: number | null) => void
  const ended = new Promise<number | null>((resolve) => (setEnded = resolve))
  started.catch((error: unknown) => setEnded(run(() => reportError(error))))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (signal === 'SIGKILL') throw new Error('to kill a service, start it with startNewProcess')
    const { service, config } = await started
    stopped ??= run(() => service.stop(signal === 'SIGTERM' ? config.UGS_DRAIN_MS : 0)).then(() =>
      setEnded(0),
    )
    return ended
  }
  let stopped: Promise<void> | undefined
  return {
    ...{ stdout, stderr, pid: process.pid, ended, stop },
    release: () =>
      started
        .then(() => stop('SIGINT'))
        .then(
          () => undefined,
          () => undefined,
        ),
  }
}

function serveInNewProcess(settings: Environment, args: readonly string[]): ServingProcess {
  const child = spawn(process.execPath, [ugsFile, 'serve', ...args], { env: environmentOf(settings) })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'exit')
    }
    return child.exitCode
  }
  return {
    ...collect(child),
    pid: child.pid as number,
    ended,
    stop,
    release: () => stop('SIGKILL').then(() => undefined),
  }
}

/** Runs one call after the other. */
function inTurn<A extends unknown[], R>(work: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve()
  return (...args) => {
    const result = last.then(() => work(...args))
    last = result.catch(() => undefined)
    return result
  }
}

const databases = new Map<string, DatabaseWithTokens>()

async function databaseOf(dataFolder: string, t: Scope): Promise<DatabaseWithTokens> {
  const database = databases.get(dataFolder) ?? (await databaseWithTokens(t))
  databases.set(dataFolder, database)
  return database
}

async function issueTokens(service: Pick<RunningService, 'ugs'>): Promise<RunningService['tokens']> {
  const [Customer, Testing] = await Promise.all([
    createApiToken(service, 'Customer'),
    createApiToken(service, 'Testing'),
  ])
  return { Customer, Testing }
}

function collect(child: ChildProcess): { stdout: () => string; stderr: () => string } {
  const texts = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
  return { stdout: () => texts.stdout, stderr: () => texts.stderr }
}

/** Returns the message with which a service failed: that of the last line of its log. */
export function failureIn(stderr: string): string {
  const line = stderr.trimEnd().split('\n').at(-1) ?? ''
  return line.startsWith('{') ? (JSON.parse(line) as { msg: string }).msg : stderr
}

const pollMs = 2

/** Resolves with the origin when the service listens. */
async function listening({ stdout, stderr, ended }: ServingProcess): Promise<string> {
  let code: number | null | undefined
  void ended.then((ended) => (code = ended))
  for (;;) {
    const origin = /"origin":"(http:[^"]+)".*\n/.exec(stdout())?.[1]
    if (origin !== undefined) return origin
    if (code !== undefined) throw new Error(`the service ended with ${code}: ${failureIn(stderr())}`)
    await sleep(pollMs)
  }
}
