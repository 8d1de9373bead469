import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { Client } from 'pg'
import type { Belongings } from '../failover/belongings.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import type { Query } from '../failover/verify.ts'
import { freshDatabase } from '../support/database.ts'
import type { Scope } from '../support/scope.ts'

/** What services keep their data in while they are killed. */
export interface KilledStore {
  readonly databaseUrl: string
  /** On a connection of its own, so that it sees what a service would that starts now. */
  readonly query: Query
  /** What the store's own checks of its files find wrong. */
  readonly findFaults: () => Promise<string[]>
  /** Where the store is a server that may be killed too. */
  readonly server?: Pick<PostgresServer, 'kill' | 'start' | 'writable'>
}

export function sqliteStore(folder: string): KilledStore {
  const path = join(folder, 'ugs.db')
  const query = (sql: string) => {
    const database = new BetterSqlite3(path, { readonly: true })
    try {
      return Promise.resolve(database.prepare<[], any>(sql).all())
    } finally {
      database.close()
    }
  }
  return {
    databaseUrl: `sqlite:${path}`,
    query,
    findFaults: async () => [
      ...(await query('PRAGMA integrity_check')).flatMap((row) =>
        row.integrity_check === 'ok' ? [] : [String(row.integrity_check)],
      ),
      ...(await query('PRAGMA foreign_key_check')).map((row) => `a row of ${row.table} refers to nothing`),
    ],
  }
}

/** A database of the server that all tests use, which lives on. */
export async function sharedPostgresStore(t: Scope): Promise<KilledStore> {
  const databaseUrl = await freshDatabase(t)
  const query = async (sql: string) => {
    const client = new Client(databaseUrl)
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  return { databaseUrl, query, findFaults: () => findFaultsOfPostgres(query) }
}

/** A server of its own, which may be killed. */
export async function ownPostgresStore(belongings: Belongings): Promise<KilledStore> {
  const server = await PostgresServer.startPrimary(belongings, 'one')
  await server.query('CREATE DATABASE ugs')
  const query = server.queryOf('ugs')
  return {
    databaseUrl: `postgres://${server.credentials}@${server.host}/ugs`,
    query,
    findFaults: () => findFaultsOfPostgres(query),
    server,
  }
}

/** What `pg_amcheck --heapallindexed --parent-check` does, by SQL: so it needs no program of PostgreSQL's. */
async function findFaultsOfPostgres(query: Query): Promise<string[]> {
  await query('CREATE EXTENSION IF NOT EXISTS amcheck')
  const ofTables = `FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'public' AND relpersistence = 'p'`
  const faults = await query(
    `SELECT relname, msg FROM (SELECT pg_class.oid, relname ${ofTables} AND relkind = 'r') AS own,
       LATERAL verify_heapam(own.oid) AS found`,
  )
  // Raises an error where anything is wrong.
  const [{ checked }] = await query(
    `SELECT count(bt_index_parent_check(index, true)) AS checked FROM (
       SELECT pg_class.oid::regclass AS index ${ofTables} AND relkind = 'i'
     ) AS own`,
  )
  if (Number(checked) === 0) throw new Error('no index was checked')
  return faults.map(({ relname, msg }) => `${relname}: ${msg}`)
}
