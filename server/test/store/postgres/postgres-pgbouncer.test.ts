import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshDatabase, migratedDatabase } from '../../support/database.ts'
import { pgbouncer, startPgBouncer } from '../../support/pgbouncer.ts'
import { openSession } from '../../support/session.ts'
import { findTool } from '../../support/tool.ts'
import { fill } from './postgres-grown.ts'
import {
  created,
  creation,
  openPostgres,
  rotation,
  setForDatabase,
  suiteScope,
  terminateOthers,
} from './postgres-support.ts'
import { describeStore } from '../contract/store-contract.ts'
import { count, freshKey, plain } from '../contract/store-fixtures.ts'

const scope = suiteScope()

const command = findTool({ name: 'PostgreSQL behind PgBouncer', skip: () => undefined }, pgbouncer)
// The pool has fewer connections than one store requests.
if (command !== undefined) {
  describeBehind(await startPgBouncer(scope, command, 3))
  const ignoring = await startPgBouncer(scope, command, 1, {
    ignore_startup_parameters: 'options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
  })

  it('PostgreSQL behind a PgBouncer that ignores startup parameters: the store does not change shared sessions', async (t) => {
    const url = await freshDatabase(t)
    await openPostgres(t, url)
    await (await openSession(t, url)).query(`${fill(2000)}; ANALYZE`)
    const store = await openPostgres(t, ignoring(url))
    await created(store)
    const { rows } = await (await openSession(t, ignoring(url))).query('SHOW plan_cache_mode')
    assert.deepEqual(rows, [{ plan_cache_mode: 'auto' }])
  })
}

function describeBehind(behind: (databaseUrl: string) => string): void {
  describeStore('PostgreSQL behind PgBouncer', async () =>
    openPostgres({ after: () => undefined }, behind(await migratedDatabase(scope))),
  )

  describe('PostgreSQL behind PgBouncer', () => {
    it('serves two stores over one connection pool', async (t) => {
      const url = await freshDatabase(t)
      const stores = [await openPostgres(t, behind(url)), await openPostgres(t, behind(url))]
      const keys = Array.from({ length: 100 }, () => freshKey())
      const creations = await Promise.all(
        stores.flatMap((store) => keys.map((key) => store.userGroups.getOrCreate(creation({ key })))),
      )
      assert.deepEqual(count(creations), { created: 100, unchanged: 100 })
      const tokens = creations
        .slice(0, keys.length)
        .map((result) => ('userGroup' in result ? result.userGroup.token : assert.fail(result.outcome)))
      const rotations = await Promise.all(
        stores.flatMap((store) => tokens.map((token) => store.userGroups.rotate(rotation(token)))),
      )
      assert.deepEqual(count(rotations), { rotated: 100, superseded: 100 })
      const [first, second] = await Promise.all(
        stores.map((store) => Promise.all(keys.map((key) => store.userGroups.find(key)))),
      )
      assert.deepEqual(plain(first), plain(second))
    })

    it('fails no operation when the server closes the connections of the pool', async (t) => {
      const url = await freshDatabase(t)
      const store = await openPostgres(t, behind(url))
      const session = await openSession(t, url)
      const groups = await Promise.all(Array.from({ length: 20 }, () => created(store)))
      await session.query(terminateOthers)
      const rotations = await Promise.all(groups.map(({ token }) => store.userGroups.rotate(rotation(token))))
      assert.deepEqual(count(rotations), { rotated: 20 })
    })

    it('migrates once when PgBouncer refuses the parameter that sets the isolation', async (t) => {
      const url = await freshDatabase(t)
      await setForDatabase(t, url, "default_transaction_isolation = 'repeatable read'")
      const stores = await Promise.all(Array.from({ length: 3 }, () => openPostgres(t, behind(url))))
      const key = freshKey()
      const creations = await Promise.all(
        stores.map((store) => store.userGroups.getOrCreate(creation({ key }))),
      )
      assert.deepEqual(count(creations), { created: 1, unchanged: 2 })
    })
  })
}
