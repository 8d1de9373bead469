import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { main } from '../src/cli.ts'
import type { TestDatabase } from './databases.ts'

/** A verdict as `--format json` prints it. */
export interface PrintedVerdict {
  readonly path: string
  readonly judgement: 'ok' | 'leak' | 'not_judged'
  readonly reason: string | null
  readonly line: number | null
  readonly user_group_id: string | null
  readonly differing_rows: number | null
}

export interface Outcome {
  readonly exitCode: number
  readonly output: string
  readonly errors: string
}

/** Writes files into a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Runs `ugs-isolation` with the configuration of a folder. */
export async function run(
  { folder, url }: TestDatabase,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const output: string[] = []
  const errors: string[] = []
  const exitCode = await main([...args, '--config', join(folder, 'isolation.json')], {
    env: { DATABASE_URL: url, ...env },
    print: (text) => output.push(text),
    printError: (text) => errors.push(text),
  })
  return { exitCode, output: output.join('\n'), errors: errors.join('\n') }
}

/** Probes SQL templates by name, and returns the verdicts by name. */
export async function probe(
  database: TestDatabase,
  config: object,
  templates: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, PrintedVerdict>>> {
  const paths = Object.entries(templates).map(([name, sql]) => [`sql/${name}.sql`, sql] as const)
  writeFiles(database.folder, {
    'isolation.json': JSON.stringify({ templates: 'sql/*.sql', ...config }),
    ...Object.fromEntries(paths),
  })
  const { output, errors } = await run(database, ['probe', '--format', 'json', '--allow-write-role'])
  if (errors !== '') throw new Error(errors)
  const { templates: verdicts } = JSON.parse(output) as { templates: PrintedVerdict[] }
  return Object.fromEntries(
    verdicts.map((verdict) => [/([^/]+)\.sql$/.exec(verdict.path)?.[1] ?? '', verdict]),
  )
}
