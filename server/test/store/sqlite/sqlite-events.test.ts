import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { firstEventId } from '../../../src/domain/audit/audit-event.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { copyDatabase } from '../../../src/store/sqlite/backup.ts'
import { eventsAfter, positionNow } from '../contract/feed-events.ts'
import { created } from '../postgres/postgres-support.ts'
import { defaults } from '../store-options.ts'
import type { Scope } from '../../support/scope.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder({ after })
let files = 0

async function open(t: Scope, path = join(folder, `${files++}.db`)): Promise<{ path: string; store: Store }> {
  const store = await openStore({ kind: 'sqlite', path }, defaults)
  t.after(() => store.close())
  return { path, store }
}

describe('SQLite: events', () => {
  it('include the changes of a running process of the previous release, which writes audit events only', async (t) => {
    const { path, store } = await open(t)
    const { teamId, providedId } = await created(store)
    const start = await positionNow(store)
    const database = new BetterSqlite3(path)
    const insert = database.prepare(
      `INSERT INTO audit_event (workspace_id, environment, event_id, action, author, team_id, provided_id)
       VALUES (1, 'Customer', ?, ?, 'api_token:1', ?, ?)`,
    )
    database.prepare('UPDATE user_group SET revision = 2 WHERE team_id = ?').run(teamId)
    insert.run(firstEventId(1), 'user_group.suspended', teamId, providedId)
    insert.run(firstEventId(2), 'console_session.created', null, null)
    insert.run(firstEventId(3), 'schema.created', null, null)
    database.close()
    assert.deepEqual(
      (await eventsAfter(store, start)).map(({ type, revision, tokenHash }) => [type, revision, tokenHash]),
      [
        ['user_group.suspended', 2, null],
        ['schema.created', null, null],
      ],
    )
  })

  it('that a wrong clock dated back are not deleted before earlier ones', async (t) => {
    const { store } = await open(t)
    const start = await positionNow(store)
    for (const now of [5000, 1000, 5000, 5000]) await created(store, { now })
    assert.equal(await store.events.deleteOlderThan(2000), 0)
    assert.equal((await eventsAfter(store, start)).length, 4)
    assert.equal(await store.events.deleteOlderThan(6000), 3)
    assert.equal(await store.events.read(start, 10), null)
  })

  it('have other positions in a copy, so that those of the original are recognized as unknown', async (t) => {
    const { path, store } = await open(t)
    await created(store)
    const position = await positionNow(store)
    const copy = join(folder, `${files++}.db`)
    await copyDatabase(path, copy, () => undefined)
    const { store: copied } = await open(t, copy)
    await created(copied)
    assert.equal(await copied.events.read(position, 10), null)
    assert.notEqual(await store.events.read(position, 10), null)
  })
})
