import type { TestContext } from 'node:test'
import type { Database } from './databases.ts'
import { loadDriver } from './missing-program.ts'

/** The part of `@duckdb/node-api` that the tests use. */
interface Driver {
  readonly DuckDBInstance: {
    create(): Promise<{ connect(): Promise<Connection>; closeSync(): void }>
  }
}
interface Connection {
  run(sql: string): Promise<unknown>
  runAndReadAll(sql: string, values: unknown[]): Promise<{ getRowsJS(): unknown[][] }>
  closeSync(): void
}

/** Opens a DuckDB database in memory. */
export async function openDuckDb(t: TestContext): Promise<Database | undefined> {
  const driver = loadDriver(t, '@duckdb/node-api') as Driver | undefined
  if (driver === undefined) return undefined
  const instance = await driver.DuckDBInstance.create()
  const connection = await instance.connect()
  t.after(() => {
    connection.closeSync()
    instance.closeSync()
  })
  const types = { text: 'varchar', number: 'double', boolean: 'boolean' }
  return {
    dialect: 'duckdb',
    cast: (expression, type) => `${expression}::${types[type]}`,
    async execute(sql) {
      await connection.run(sql)
    },
    query: async ({ text, values }) => (await connection.runAndReadAll(text, values)).getRowsJS(),
    countsAnother: (error) => /Can not bind to parameter number|Values were not provided/.test(String(error)),
  }
}
