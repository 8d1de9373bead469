import assert from 'node:assert/strict'
import {
  compileSql,
  TemplateError,
  type Clock,
  type Json,
  type SqlDialect,
  type VariableSource,
} from '../src/index.ts'
import { dialects } from '../src/sql/dialects.ts'

export const sqlDialects = Object.keys(dialects) as SqlDialect[]

/** Placeholder of the nth text value. */
export const placeholders: Record<SqlDialect, (position: number) => string> = {
  postgresql: (position) => `$${position}`,
  mysql: () => '? COLLATE utf8mb4_0900_bin',
  mariadb: () => '? COLLATE utf8mb4_nopad_bin',
  sqlite: () => '?',
  duckdb: (position) => `$${position}`,
  sqlserver: (position) => `@p${position}`,
  bigquery: () => '?',
  snowflake: () => '?',
  redshift: (position) => `$${position}`,
  databricks: () => '?',
  clickhouse: (position) => `{p${position}:String}`,
  trino: () => '?',
  oracle: (position) => `:${position}`,
}

/** Replaces the types in placeholders of ClickHouse. */
export function asText(sql: string): string {
  return sql.replace(/(\{p\d+):[\w()]+\}/g, '$1:String}')
}

export const example: VariableSource = {
  providedId: 'customer-42',
  name: 'Example customer',
  properties: {
    region: 'EU',
    regions: ['EU', 'US'],
    none: [],
    nothing: null,
    nested: { deep: { value: 1 } },
    'sales region': { 'north.west': 'NW' },
  },
}

/** A clock that advances only when a test changes it. */
export class SettableClock implements Clock {
  time = 1_790_000_000_000
  elapsed = 5000

  now(): number {
    return this.time
  }

  monotonic(): number {
    return this.elapsed
  }

  /** Advances both times. */
  pass(ms: number): void {
    this.time += ms
    this.elapsed += ms
  }
}

/** A user group with the property `value`. */
export function withValue(value: unknown): VariableSource {
  return { providedId: 'customer-42', name: 'Example customer', properties: { value: value as Json } }
}

/** A variable that the renderer passes: see `passing`. */
export const value = '{{ passed.value }}'

/** The properties and the name of a user group as other variables, which are compared as the database does by default. */
export function passing({ name, properties }: VariableSource): { variables: object } {
  return { variables: { passed: { name, ...properties } } }
}

/** Compiles with the variables that `passing` returns. */
export function compileWith(template: string, userGroup: VariableSource, dialect: SqlDialect) {
  return compileSql(template, userGroup, { dialect, ...passing(userGroup) })
}

/** Compiles for the example user group. Returns a refusal instead of throwing it. */
export function compiled(
  template: string,
  dialect: SqlDialect = 'postgresql',
  userGroup: VariableSource = example,
) {
  try {
    return compileWith(template, userGroup, dialect)
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
}

export function refusal(
  template: string,
  dialect: SqlDialect = 'postgresql',
  userGroup: VariableSource = example,
): TemplateError {
  const result = compiled(template, dialect, userGroup)
  assert.ok(
    result instanceof TemplateError,
    `${dialect} takes ${template}: ${'text' in result ? result.text : ''}`,
  )
  return result
}
