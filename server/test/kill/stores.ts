import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import type { Belongings } from '../failover/belongings.ts'
import { PostgresServer } from '../failover/postgres-server.ts'
import type { Query } from '../failover/verify.ts'

/** The store of services that are killed. */
export interface KilledStore {
  readonly databaseUrl: string
  /** Reads over a new connection, as a restarted service does. */
  readonly query: Query
  /** Returns the damage that the store's own checks find in its files. */
  readonly findFaults: () => Promise<string[]>
  /** The server to kill, if the store has one. */
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

/** A separate server, which may be killed. */
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

/** Runs the checks of `pg_amcheck --heapallindexed --parent-check` in SQL, without PostgreSQL's programs. */
async function findFaultsOfPostgres(query: Query): Promise<string[]> {
  await query('CREATE EXTENSION IF NOT EXISTS amcheck')
  const ofTables = `FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'public' AND relpersistence = 'p'`
  const faults = await query(
    `SELECT relname, msg FROM (SELECT pg_class.oid, relname ${ofTables} AND relkind = 'r') AS own,
       LATERAL verify_heapam(own.oid) AS found`,
  )
  // Raises an error if it finds damage.
  const [{ checked }] = await query(
    `SELECT count(bt_index_parent_check(index, true)) AS checked FROM (
       SELECT pg_class.oid::regclass AS index ${ofTables} AND relkind = 'i'
     ) AS own`,
  )
  if (Number(checked) === 0) throw new Error('no index was checked')
  return faults.map(({ relname, msg }) => `${relname}: ${msg}`)
}
