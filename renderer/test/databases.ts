import type { TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { Client, DatabaseError } from 'pg'
import { freshDatabase } from '../../server/test/support/database.ts'
import type { CompiledSql } from '../src/index.ts'
import { openDuckDb } from './duckdb.ts'
import { openMariaDb } from './mariadb.ts'

/** A real database. */
export interface Database {
  readonly dialect: 'postgresql' | 'sqlite' | 'mariadb' | 'duckdb'
  /** Returns the value with a type, for places where the context gives none. */
  readonly cast: (expression: string, type: 'text' | 'number' | 'boolean') => string
  /** Runs statements without variables. */
  execute(sql: string): Promise<void>
  /** Rows, each as an array of columns. */
  query(statement: CompiledSql): Promise<unknown[][]>
  /** Returns true if the error means that the number of values differs from the number of parameters. */
  countsAnother(error: unknown): boolean
}

export const realDatabases = ['postgresql', 'sqlite', 'mariadb', 'duckdb'] as const

const openers = {
  postgresql: openPostgres,
  sqlite: openSqlite,
  mariadb: openMariaDb,
  duckdb: openDuckDb,
}

/**
 * Creates an empty database. Deleted after the test. Returns undefined and skips the test if a program is missing; on CI
 * (`CI=true`) the test fails.
 */
export async function openDatabase(
  t: TestContext,
  dialect: Database['dialect'],
): Promise<Database | undefined> {
  return openers[dialect](t)
}

async function openPostgres(t: TestContext): Promise<Database> {
  const client = new Client(await freshDatabase(t))
  await client.connect()
  // The database is dropped with force, perhaps before the connection ends.
  client.on('error', () => undefined)
  t.after(() => client.end())
  const types = { text: 'text', number: 'float8', boolean: 'boolean' }
  return {
    dialect: 'postgresql',
    cast: (expression, type) => `${expression}::${types[type]}`,
    async execute(sql) {
      await client.query(sql)
    },
    async query({ text, values }) {
      const { rows } = await client.query<unknown[]>({ text, values, rowMode: 'array' })
      return rows
    },
    countsAnother: (error) => error instanceof DatabaseError && error.code === '08P01',
  }
}

function openSqlite(t: TestContext): Promise<Database> {
  const database = new BetterSqlite3(':memory:')
  t.after(() => {
    database.close()
  })
  return Promise.resolve({
    dialect: 'sqlite',
    cast: (expression) => expression,
    execute: (sql) => {
      database.exec(sql)
      return Promise.resolve()
    },
    query: ({ text, values }) =>
      new Promise((resolve) => {
        const statement = database.prepare<unknown[], unknown[]>(text)
        if (statement.reader) return resolve(statement.raw().all(values))
        statement.run(values)
        resolve([])
      }),
    countsAnother: (error) =>
      error instanceof RangeError && error.message.includes('parameter values were provided'),
  })
}
