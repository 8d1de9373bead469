import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before } from 'node:test'
import { ugsFile } from './build-output.ts'
import { createApiToken } from './command.ts'
import { databaseWithTokens, type DatabaseWithTokens } from './database.ts'
import type { Scope } from './scope.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { runUgsCommand, type CommandResult } from './ugs-commands.ts'

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
  /** Runs a `ugs` command on the same store. Commands run one after the other, in one process. */
  readonly ugs: (...args: string[]) => Promise<CommandResult>
  /** Runs a `ugs` command on the same store, in a separate process. */
  readonly ugsInOwnProcess: (...args: string[]) => Promise<CommandResult>
  /** Ends the process with a signal, and resolves with its exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
  readonly pid: number
  /** Resolves when a line of the log contains the text. */
  readonly logged: (text: string) => Promise<void>
}

export type { CommandResult } from './ugs-commands.ts'
export { temporaryFolder } from './temporary-folder.ts'
export { ugsFile } from './build-output.ts'

type Environment = Record<string, string>

/** Returns a minimal environment, so that no setting of this machine affects the process. */
function environmentOf(extra: Environment): Environment {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...extra }
}

export async function runUgs(
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
  const cleanups: (() => void | Promise<void>)[] = []
  before(async () => {
    service = await startService({ after: (done) => cleanups.unshift(done) }, environment)
  })
  after(async () => {
    for (const done of cleanups) await done()
  })
  return () => service
}

/**
 * Starts the service as a user does, on a free port and by default in a new data folder. If UGS_TEST_STORE is `postgres`, each
 * data folder gets a new database.
 */
export async function startService(
  t: Scope,
  environment: Environment = {},
  args: readonly string[] = [],
): Promise<RunningService> {
  const dataFolder = environment.UGS_DATA_DIR ?? join(temporaryFolder(t), 'data')
  const isOnPostgres = process.env.UGS_TEST_STORE === 'postgres'
  const database =
    isOnPostgres && environment.DATABASE_URL === undefined ? await databaseOf(dataFolder, t) : undefined
  const databaseUrl = isOnPostgres ? (database?.url ?? environment.DATABASE_URL) : undefined
  const settings = {
    PORT: '0',
    UGS_DATA_DIR: dataFolder,
    UGS_DRAIN_MS: '0',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...environment,
  }
  const child = spawn(process.execPath, [ugsFile, 'serve', ...args], { env: environmentOf(settings) })
  const output = collect(child)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'exit')
    }
    return child.exitCode
  }
  t.after(async () => {
    await stop('SIGKILL')
  })
  const origin = await listening(child, output.stderr)
  // Node.js reads these settings at the start of a process only.
  const needsOwnProcess = 'LD_PRELOAD' in settings || 'NODE_OPTIONS' in settings
  const ugsInOwnProcess = (...args: string[]) => runUgs(args, settings)
  const ugs = needsOwnProcess
    ? ugsInOwnProcess
    : (...args: string[]) => runUgsCommand(args, environmentOf(settings))
  const token = (environment: string) =>
    new RegExp(`uga_${environment}_\\w+`).exec(output.stdout())?.[0] ?? ''
  const made = isOnPostgres ? (database?.tokens ?? (await makeTokens({ ugs }))) : undefined
  return {
    origin,
    dataFolder,
    databaseUrl,
    ...output,
    get tokens() {
      return made ?? { Customer: token('customer'), Testing: token('testing') }
    },
    ugs,
    ugsInOwnProcess,
    stop,
    pid: child.pid as number,
    logged: async (text) => {
      while (!output.stderr().includes(text)) await once(child.stderr, 'data')
    },
  }
}

const databases = new Map<string, DatabaseWithTokens>()

async function databaseOf(dataFolder: string, t: Scope): Promise<DatabaseWithTokens> {
  const database = databases.get(dataFolder) ?? (await databaseWithTokens(t))
  databases.set(dataFolder, database)
  return database
}

async function makeTokens(service: Pick<RunningService, 'ugs'>): Promise<RunningService['tokens']> {
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

async function listening(child: ChildProcess, stderr: () => string): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const origin = /listens on (http:\S+)/.exec(line)?.[1]
      // The service writes this line and the notes after it together.
      if (origin !== undefined) setImmediate(resolve, origin)
    })
    child.on('close', (code) => reject(new Error(`the service ended with ${code}: ${stderr()}`)))
  })
}
