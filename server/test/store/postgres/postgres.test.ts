import type { Client } from 'pg'
import { readMigrations } from '../../../src/store/migrations.ts'
import { freshDatabase, migratedDatabase, nodeUrls } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { openPostgres, placeOf, rowsOf, suiteScope } from './postgres-support.ts'
import { describeStore } from '../contract/store-contract.ts'
import { describeEvents } from '../contract/events-contract.ts'
import { describeMappingEntries } from '../contract/mapping-entries-contract.ts'
import { describeProcesses } from '../contract/store-processes.ts'
import { describeUnchanged } from '../contract/unchanged-contract.ts'

const scope = suiteScope()

const openFreshStore = async () => openPostgres({ after: () => undefined }, await migratedDatabase(scope))

describeStore('PostgreSQL', openFreshStore)

// On Citus, there are no events.
if ((await nodeUrls()).length === 1) describeEvents('PostgreSQL', openFreshStore)

describeUnchanged('PostgreSQL', () => migratedDatabase(scope))

describeProcesses('PostgreSQL', {
  dialect: 'postgres',
  freshUrl: () => freshDatabase(scope),
  placeOf,
  count: rowsOf,
})

const withSession = async <T>(url: string, work: (session: Client) => Promise<T>): Promise<T> => {
  const session = await openSession({ after: () => undefined }, url)
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}

describeMappingEntries('PostgreSQL', {
  freshUrl: () => freshDatabase(scope),
  query: (url, sql) =>
    withSession(url, async (session) => (await session.query<Record<string, unknown>>(sql)).rows),
  createFirstVersion: (url, sql) =>
    withSession(url, async (session) => {
      const [first] = readMigrations('postgres')
      await session.query(
        `CREATE TABLE schema_migration (version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL);
         COMMENT ON TABLE schema_migration IS 'User Group Service';
         INSERT INTO schema_migration VALUES (1, 'initial', 0);
         ${first?.sql};
         ${sql}`,
      )
    }),
})
