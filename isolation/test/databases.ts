import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import { Client } from 'pg'
import { createMariaDb } from '../../renderer/test/mariadb.ts'
import { loadDriver } from '../../renderer/test/missing-program.ts'
import { freshDatabase } from '../../server/test/support/database.ts'

export const dialects = ['postgresql', 'sqlite', 'duckdb', 'mariadb'] as const
export type TestedDialect = (typeof dialects)[number]

/** A new database with these tables, and a folder next to which the drivers are installed. */
export interface TestDatabase {
  readonly url: string
  readonly folder: string
}

/** Creates a folder for a configuration and its templates, which finds the drivers of tools/databases. */
export function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'isolation-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(repository, 'tools/databases/node_modules'), join(folder, 'node_modules'))
  return folder
}

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Creates a database and runs the statements. Returns undefined and skips the test if a program is missing. */
export async function createDatabase(
  t: TestContext,
  dialect: TestedDialect,
  statements: readonly string[],
): Promise<TestDatabase | undefined> {
  const folder = newFolder(t)
  const url = await creators[dialect](t, folder, statements)
  return url === undefined ? undefined : { url, folder }
}

type Create = (t: TestContext, folder: string, statements: readonly string[]) => Promise<string | undefined>

const creators: Readonly<Record<TestedDialect, Create>> = {
  async postgresql(t, _folder, statements) {
    const url = await freshDatabase(t)
    const client = new Client(url)
    await client.connect()
    await client.query(statements.join(';\n'))
    await client.end()
    return url
  },

  sqlite(_t, folder, statements) {
    const path = join(folder, 'test.db')
    const database = new BetterSqlite3(path)
    database.exec(statements.join(';\n'))
    database.close()
    return Promise.resolve(`sqlite:${path}`)
  },

  async duckdb(t, folder, statements) {
    const driver = loadDriver(t, '@duckdb/node-api') as DuckDb | undefined
    if (driver === undefined) return undefined
    const path = join(folder, 'test.duckdb')
    const instance = await driver.DuckDBInstance.create(path)
    const connection = await instance.connect()
    await connection.run(statements.join(';\n'))
    connection.closeSync()
    instance.closeSync()
    return `duckdb:${path}`
  },

  async mariadb(t, _folder, statements) {
    const database = await createMariaDb(t)
    if (database === undefined) return undefined
    await database.connection.query(statements.join(';\n'))
    return database.url
  },
}

interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string): Promise<{
      connect(): Promise<{ run(sql: string): Promise<unknown>; closeSync(): void }>
      closeSync(): void
    }>
  }
}
