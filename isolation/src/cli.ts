import { parseArgs } from 'node:util'
import { readConfig, type Config } from './config.ts'
import { openDatabase, runDialects } from './databases/open.ts'
import { UsageError } from './errors.ts'
import { compileOnly, Probe, type Verdict } from './probe.ts'
import { formats } from './reports.ts'
import { rls } from './rls/command.ts'
import { readTemplates, type Template } from './templates.ts'
import { readCustomers, serviceOf, type Customer } from './user-groups.ts'

const usage = `Usage: ugs-isolation probe [options]
       ugs-isolation rls print | verify [options]

probe       runs each template of a dashboard twice, once with the rows of other customers hidden. The results must be equal.
rls print   prints the SQL of row-level security in PostgreSQL
rls verify  checks row-level security as the role of the dashboards, through their connection pool

Options:
  --config FILE        tables, templates and customers (default: isolation.json)
  --format FORMAT      ${Object.keys(formats).join(', ')} (default: text)
  --show-rows          print values of rows that differ, and the database's own messages
  --allow-write-role   use a role that may write
  --canary             judge tables with rows of one customer as if half of them belonged to another
  --rls-role NAME      judge what no shadow can cover, such as views, by this role of row-level security
  --timeout SECONDS    maximum time of one query (default: 30)

Environment:
  DATABASE_URL                postgres://…, sqlite:PATH, duckdb:PATH or mysql://…
  UGS_URL, UGS_ADMIN_TOKEN    the service, for user groups given by their ids

Exit codes: 0 isolated, 1 a leak or finding, 2 not judged, or wrong input`

const options = {
  config: { type: 'string', default: 'isolation.json' },
  format: { type: 'string', default: 'text' },
  'show-rows': { type: 'boolean', default: false },
  'allow-write-role': { type: 'boolean', default: false },
  canary: { type: 'boolean', default: false },
  'rls-role': { type: 'string' },
  timeout: { type: 'string', default: '30' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** Surroundings of the command. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly print: (text: string) => void
  readonly printError: (text: string) => void
}

/** Runs the command and returns its exit code. */
export async function main(
  args: readonly string[],
  { env, print, printError }: Surroundings = {
    env: process.env,
    print: console.log,
    printError: console.error,
  },
): Promise<number> {
  try {
    const { values, positionals } = readArguments(args)
    if (values.help || positionals.length === 0) {
      print(usage)
      return values.help ? 0 : 2
    }
    const [command = '', action, surplus] = positionals
    const unexpected = command === 'rls' ? surplus : action
    if (unexpected !== undefined && (command === 'rls' || command === 'probe'))
      throw new UsageError(`${command} takes no "${unexpected}": see ugs-isolation --help`)
    if (command === 'rls')
      return await rls(
        { ...values, action, timeoutMs: timeoutOf(values), databaseUrl: env.DATABASE_URL },
        print,
      )
    if (command !== 'probe')
      throw new UsageError(`there is no command "${command}": see ugs-isolation --help`)
    return await probe(values, env, print)
  } catch (error) {
    // An error must not end with the exit code of a leak.
    const { name, message } = error as Error
    printError(
      `ugs-isolation: ${error instanceof UsageError ? message : `internal error (${name}: ${message})`}`,
    )
    return 2
  }
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}; see ugs-isolation --help`)
  }
}

type Values = ReturnType<typeof readArguments>['values']

async function probe(
  values: Values,
  env: Surroundings['env'],
  print: Surroundings['print'],
): Promise<number> {
  const format = formats[values.format]
  if (format === undefined) throw new UsageError(`--format must be one of ${Object.keys(formats).join(', ')}`)
  const timeoutMs = timeoutOf(values)
  const config = readConfig(values.config)
  const templates = await readTemplates(config)
  const customers = await readCustomers(config, serviceOf(env))
  const verdicts = await judge(templates, config, customers, values, timeoutMs, env)
  print(format({ verdicts, customers: customers.length - 1, folder: config.folder }))
  if (verdicts.some(({ judgement }) => judgement === 'leak')) return 1
  return verdicts.every(({ judgement }) => judgement === 'ok') ? 0 : 2
}

async function judge(
  templates: readonly Template[],
  config: Config,
  customers: readonly Customer[],
  values: Values,
  timeoutMs: number,
  env: Surroundings['env'],
): Promise<Verdict[]> {
  const { dialect } = config
  if (dialect !== undefined && !runDialects.has(dialect))
    return templates.map((template) => compileOnly({ config, customers }, dialect, template))
  const database = await openDatabase(env.DATABASE_URL, config.folder, timeoutMs)
  try {
    if (dialect !== undefined && runDialects.get(dialect) !== runDialects.get(database.dialect))
      throw new UsageError(
        `isolation.json: "dialect" is ${dialect}, but DATABASE_URL names a ${database.dialect} database`,
      )
    if (database.writePrivilege !== null && !values['allow-write-role'])
      throw new UsageError(
        `the role ${database.writePrivilege}: use one that may only read, or --allow-write-role`,
      )
    const probe = await Probe.create({
      config,
      customers,
      database,
      showRows: values['show-rows'],
      canary: values.canary,
      rlsRole: values['rls-role'],
    })
    const verdicts: Verdict[] = []
    for (const template of templates) {
      showProgress(verdicts.length, templates.length)
      verdicts.push(await probe.judge(template))
    }
    return verdicts
  } finally {
    await database.close()
    showProgress()
  }
}

function timeoutOf({ timeout }: { readonly timeout: string }): number {
  // Databases take 0 for no limit.
  const timeoutMs = Math.ceil(Number(timeout) * 1000)
  if (timeoutMs > 0 && timeoutMs <= 3_600_000) return timeoutMs
  throw new UsageError('--timeout must be a number of seconds, at most 3600')
}

/** Writes the progress to a terminal, or clears it. */
function showProgress(done?: number, count?: number): void {
  if (!process.stderr.isTTY) return
  process.stderr.write(done === undefined ? '\r\u001b[K' : `\r${done} of ${count} templates\u001b[K`)
}
