import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { glob } from 'tinyglobby'
import { isObject, type Config, type VariableValues } from './config.ts'
import { UsageError } from './errors.ts'

/** A template to judge. */
export interface Template {
  /** Path of its file, relative to the configuration. A template of a module has its name after `#`. */
  readonly path: string
  readonly sql: string
  readonly variables: VariableValues
  readonly optional: readonly string[]
}

/**
 * Reads the templates in order of their paths. An SQL file may begin with comments such as `-- variables: {"filter.rows": 10}` and
 * `-- optional: filter.from, filter.to`. A module exports an object or a list of templates as `default` or `templates`.
 * @throws UsageError if there are none, or if a file is not valid
 */
export async function readTemplates({ folder, templates, variables, optional }: Config): Promise<Template[]> {
  if (templates.length === 0)
    throw new UsageError('isolation.json: "templates" is missing, such as "dashboards/**/*.sql"')
  const paths = await glob([...templates], { cwd: folder, expandDirectories: false, dot: true })
  if (paths.length === 0) throw new UsageError(`no file in ${folder} matches ${templates.join(', ')}`)
  const all: Template[] = []
  for (const path of paths.sort()) {
    const found = /\.[cm]?js$/.test(path) ? await readModule(folder, path) : [readSql(folder, path)]
    for (const template of found)
      all.push({
        ...template,
        variables: { ...variables, ...template.variables },
        optional: [...optional, ...template.optional],
      })
  }
  return all
}

function readSql(folder: string, path: string): Template {
  const sql = readFileSync(resolve(folder, path), 'utf8').replace(/^\uFEFF/, '')
  const header = new Map<string, string>()
  for (const line of sql.split(/\r?\n/)) {
    if (line.trim() !== '' && !line.trimStart().startsWith('--')) break
    const [, name, value] = /^\s*--\s*(variables|optional):\s*(.*?)\s*$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) header.set(name, value)
  }
  return {
    path,
    sql,
    variables: readVariables(path, header.get('variables') ?? '{}'),
    optional: (header.get('optional') ?? '').split(/[\s,]+/).filter((name) => name !== ''),
  }
}

function readVariables(path: string, text: string): VariableValues {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Reported below.
  }
  throw new UsageError(
    `${path}: "-- variables:" needs a JSON object in one line, such as {"filter.rows": 10}`,
  )
}

async function readModule(folder: string, path: string): Promise<Template[]> {
  const exported = (await import(pathToFileURL(resolve(folder, path)).href)) as Record<string, unknown>
  const templates = exported.default ?? exported.templates
  const entries = Array.isArray(templates)
    ? templates.map((entry: unknown, i) => [String(i), entry] as const)
    : Object.entries(isObject(templates) ? templates : {})
  if (entries.length === 0)
    throw new UsageError(
      `${path}: export the templates as \`default\`: an object of SQL texts, or a list of { name, sql }`,
    )
  return entries.map(([key, entry]) => {
    const {
      name = key,
      sql,
      variables = {},
      optional = [],
    } = (typeof entry === 'string' ? { sql: entry } : entry) as Partial<Template> & { name?: string }
    if (typeof sql !== 'string') throw new UsageError(`${path}: the template ${key} has no text in \`sql\``)
    return { path: `${path}#${name}`, sql, variables, optional }
  })
}
