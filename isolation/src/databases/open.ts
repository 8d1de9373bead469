import type { SqlDialect } from '@user-group-service/renderer/templates'
import { UsageError } from '../errors.ts'
import type { Database, OpenOptions } from './database.ts'
import { openDuckDb } from './duckdb.ts'
import { openMysql } from './mysql.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

const openers: Readonly<Record<string, (options: OpenOptions) => Promise<Database>>> = {
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
  'sqlite:': openSqlite,
  'duckdb:': openDuckDb,
  'mysql:': openMysql,
  'mariadb:': openMysql,
}

/** The dialects of the databases that can be opened, each with the one that it is treated like. */
export const runDialects: ReadonlyMap<SqlDialect, SqlDialect> = new Map<SqlDialect, SqlDialect>([
  ['postgresql', 'postgresql'],
  ['sqlite', 'sqlite'],
  ['duckdb', 'duckdb'],
  ['mariadb', 'mariadb'],
  ['mysql', 'mariadb'],
])

/** Opens the database of `DATABASE_URL`. @throws UsageError */
export function openDatabase(
  databaseUrl: string | undefined,
  folder: string,
  timeoutMs: number,
): Promise<Database> {
  if (!databaseUrl)
    throw new UsageError('DATABASE_URL is not set: postgres://…, sqlite:PATH, duckdb:PATH or mysql://…')
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : null
  const open = url && openers[url.protocol]
  if (!url || !open)
    throw new UsageError('DATABASE_URL must begin with postgres://, sqlite:, duckdb: or mysql://')
  if (!isDecodable(url.href))
    throw new UsageError('DATABASE_URL has a % that begins no escape such as %20: write it as %25')
  return open({ url, folder, timeoutMs })
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
