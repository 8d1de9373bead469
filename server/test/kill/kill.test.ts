import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { temporaryFolder } from '../support/service.ts'
import { runKillRound } from './round.ts'
import { KillableServices } from './services.ts'
import { sharedPostgresStore, sqliteStore, type KilledStore } from './stores.ts'

const rounds = 2

const stores: Record<string, (t: TestContext) => KilledStore | Promise<KilledStore>> = {
  SQLite: (t) => sqliteStore(temporaryFolder(t)),
  PostgreSQL: sharedPostgresStore,
}

describe('kill -9 under load', () => {
  for (const [name, open] of Object.entries(stores)) {
    it(`loses nothing that was acknowledged, on ${name}`, async (t) => {
      const store = await open(t)
      const services = await KillableServices.start(
        { keep: () => undefined },
        { databaseUrl: store.databaseUrl, dataFolder: temporaryFolder(t), count: 2 },
      )
      t.after(() => services.stop())
      for (let round = 0; round < rounds; round++) {
        const { violations, faults, inDoubt } = await runKillRound(services, store, round)
        assert.deepEqual([violations.slice(0, 10), faults.slice(0, 10)], [[], []])
        // Fewer changes mean that there was no load.
        assert.ok(inDoubt > 0)
      }
    })
  }
})
