import { readVariable } from '../variables.ts'
import { dialects, type Dialect, type SqlDialect } from './dialects.ts'

/** The rules of a template that code defines. */
export interface TemplateOptions {
  readonly dialect: SqlDialect
  /** Variables that may be absent in optional clauses, for example `['filter.from']`. */
  readonly optional?: readonly string[] | undefined
  /** Names that `{{ identifier … }}` may write, by variable: `{ 'user_group.properties.schema': ['eu', 'us'] }`. */
  readonly identifiers?: Readonly<Record<string, readonly string[]>> | undefined
}

export interface TemplateRules {
  readonly dialect: Dialect
  /** Keys of the variables. */
  readonly optional: ReadonlySet<string>
  /** The allowed names by the variable's key. */
  readonly identifiers: ReadonlyMap<string, readonly string[]>
}

/** Checks the options, also of untyped callers. */
export function readOptions(options: TemplateOptions): TemplateRules {
  const given = (options as TemplateOptions | undefined) ?? ({} as Partial<TemplateOptions>)
  const { dialect, optional = [], identifiers = {} } = given
  if (typeof dialect !== 'string' || !Object.hasOwn(dialects, dialect)) {
    const names = Object.keys(dialects).join(', ')
    throw new TypeError(
      `dialect must be one of ${names}: pass it as the last argument, for example { dialect: 'postgresql' }`,
    )
  }
  return {
    dialect: dialects[dialect],
    optional: new Set(keysOf('optional', optional)),
    identifiers: new Map(
      Object.entries(identifiers).map(([name, allowed]) => [
        keyOf('identifiers', name),
        checkedNames('identifiers', allowed),
      ]),
    ),
  }
}

/** Returns the keys of variables given by their names, such as `filter.from`. */
export function keysOf(option: string, names: readonly string[]): string[] {
  return checkedNames(option, names).map((name) => keyOf(option, name))
}

function keyOf(option: string, name: string): string {
  try {
    const { key, name: read } = readVariable(`{{ ${name} }}`, 0, '{ {')
    if (read === name) return key
  } catch {
    // Reported below.
  }
  throw new TypeError(
    `${option}: ${JSON.stringify(name)} is no variable. Write it without braces, such as filter.from`,
  )
}

function checkedNames(option: string, names: unknown): string[] {
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  throw new TypeError(`${option} must contain lists of strings`)
}
