import type { Client } from 'pg'
import { freshDatabase, migratedDatabase, nodeUrls } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { openPostgres, placeOf, rowsOf, suiteScope } from './postgres-support.ts'
import { describeStore } from '../contract/store-contract.ts'
import { describeConfiguration } from '../contract/configuration-contract.ts'
import { describeErasure } from '../contract/erasure-contract.ts'
import { describeEvents } from '../contract/events-contract.ts'
import { describeJobs } from '../contract/jobs-contract.ts'
import { describeMarks } from '../contract/marks-property.ts'
import { describeMappingEntries } from '../contract/mapping-entries-contract.ts'
import { describeMigrations } from '../contract/migrations-contract.ts'
import { describeSearchIndex } from '../contract/search-index-contract.ts'
import { describeProcesses } from '../contract/store-processes.ts'
import { describeUnchanged } from '../contract/unchanged-contract.ts'

const scope = suiteScope()

const openFreshStore = async () => openPostgres({ after: () => undefined }, await migratedDatabase(scope))

describeStore('PostgreSQL', openFreshStore)
describeSearchIndex('PostgreSQL', openFreshStore)
describeJobs('PostgreSQL', openFreshStore)

// On Citus, there are no events, so no webhooks.
if ((await nodeUrls()).length === 1) {
  describeEvents('PostgreSQL', openFreshStore)
  describeConfiguration('PostgreSQL', openFreshStore)
}

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

const query = (url: string, sql: string) =>
  withSession(url, async (session) => (await session.query<Record<string, unknown>>(sql)).rows)

describeMappingEntries('PostgreSQL', { freshUrl: () => freshDatabase(scope), query })
describeErasure('PostgreSQL', { freshUrl: () => freshDatabase(scope), query })
describeMarks('PostgreSQL', { freshUrl: () => freshDatabase(scope), query })

describeMigrations('PostgreSQL', {
  dialect: 'postgres',
  freshUrl: () => freshDatabase(scope),
  query,
  execute: query,
})
