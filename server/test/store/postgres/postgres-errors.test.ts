import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { setImmediate as eventLoopTick } from 'node:timers/promises'
import type { Client } from 'pg'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { Fault } from '../../../src/domain/fault.ts'
import { bucketOf } from '../../../src/domain/user-group/location.ts'
import { PrimaryPool } from '../../../src/store/postgres/primary-pool.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { freshDatabase } from '../../support/database.ts'
import { DatabaseProxy } from '../../support/database-proxy.ts'
import { freshRole } from '../../support/role.ts'
import type { Scope } from '../../support/scope.ts'
import { openSession } from '../../support/session.ts'
import {
  assertUnavailable,
  brief,
  created,
  createdInTurn,
  creation,
  openPostgres,
  openProxied,
  rotation,
  setForDatabase,
  statements,
  terminateOthers,
  waitingForLocks,
  type Proxied,
} from './postgres-support.ts'
import { count, freshKey, newWorkspace, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

/** Timeouts that do not expire during a test. */
const longTimeouts = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 }

const rename = (name: string) => ({ change: { name }, ...actor, now: 3000 })

/** Opens a store whose first creation fails with this SQLSTATE. */
async function failing(t: Scope, code: string): Promise<Proxied> {
  const proxied = await openProxied(t)
  const session = await openSession(t, proxied.url)
  // A rollback does not reset a sequence.
  await session.query(`
    CREATE SEQUENCE tries;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('tries') = 1 THEN RAISE EXCEPTION 'words of the server' USING ERRCODE = '${code}'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER fail BEFORE INSERT ON user_group FOR EACH ROW EXECUTE FUNCTION fail()`)
  return proxied
}

/** Opens a session with a transaction that locks these user groups. */
async function locking(t: Scope, url: string, ...groups: readonly { teamId: number }[]): Promise<Client> {
  const session = await openSession(t, url)
  await session.query('BEGIN')
  for (const group of groups) await lock(session, group)
  return session
}

async function lock(session: Client, { teamId }: { teamId: number }): Promise<void> {
  await session.query('UPDATE user_group SET created_at = created_at WHERE team_id = $1', [teamId])
}

describe('PostgreSQL: a row that another session has locked', () => {
  it('fails only the operation that needs it, and not those that arrived with it', async (t) => {
    const { store, url } = await openProxied(t, { lockTimeoutMs: 50 })
    const groups = await createdInTurn(store, 5)
    const locked = groups.splice(2, 1)
    const other = await locking(t, url, ...locked)
    const update = (name: string) => (key: (typeof groups)[number]) =>
      store.userGroups.update({ key, ...rename(name) })
    const failing = Promise.all(
      locked.map(update('B')).map((result) => assertUnavailable(result, { reason: '55P03' })),
    )
    assert.deepEqual(count(await Promise.all(groups.map(update('B')))), { updated: 4 })
    await failing
    await other.query('ROLLBACK')
    assert.deepEqual(count(await Promise.all(locked.map(update('C')))), { updated: 1 })
  })

  it('is waited for', async (t) => {
    const { store, url } = await openProxied(t, longTimeouts)
    const group = await created(store)
    const other = await locking(t, url, group)
    const result = store.userGroups.rotate(rotation(group.token))
    await waitingForLocks(other)
    await other.query('COMMIT')
    assert.equal((await result).outcome, 'rotated')
  })

  it('makes the operation fail as unavailable after the statement timeout', async (t) => {
    const { store, url } = await openProxied(t, {
      lockTimeoutMs: 20_000,
      statementTimeoutMs: 500,
      deadlineMs: 2000,
    })
    const group = await created(store)
    const other = await locking(t, url, group)
    await assertUnavailable(store.userGroups.update({ key: group, ...rename('B') }), { reason: '57014' })
    await other.query('ROLLBACK')
    // The last attempt may take effect now that the row is unlocked.
    assert.equal((await store.userGroups.update({ key: group, ...rename('C') })).outcome, 'updated')
  })
})

describe('PostgreSQL: an operation that the server rolls back', () => {
  it('is retried after a deadlock', async (t) => {
    const url = await freshDatabase(t)
    await setForDatabase(t, url, "deadlock_timeout = '10ms'")
    const { store, proxy } = await openProxied(t, longTimeouts, {}, url)
    const [first, second, third] = await createdInTurn(store, 3)
    assert.ok(first && second && third)
    const opener = await locking(t, url, second)
    const opponent = await locking(t, url, third)
    await opponent.query("SET LOCAL deadlock_timeout = '1h'")
    // The store locks the first row and waits for the second, and the opponent waits for the first. When the store gets
    // the second row, it waits for the third. This completes the deadlock, so PostgreSQL rolls back the store.
    const updates = Promise.all(
      [first, second, third].map((key) => store.userGroups.update({ key, ...rename('B') })),
    )
    await waitingForLocks(opener)
    const locked = lock(opponent, first)
    await waitingForLocks(opener, { count: 2 })
    await opener.query('COMMIT')
    await locked
    await opponent.query('COMMIT')
    assert.deepEqual(count(await updates), { updated: 3 })
    assert.ok(proxy.count(statements.update) > 1)
  })

  it('is retried after a deadlock over an idempotency key', async (t) => {
    const url = await freshDatabase(t)
    await setForDatabase(t, url, "deadlock_timeout = '2s'")
    const { store, proxy } = await openProxied(t, longTimeouts, {}, url)
    const group = await created(store)
    const idempotency = { keyHash: randomBytes(32), fingerprint: randomBytes(32), expiresAt: 9000 }
    const session = await openSession(t, url)
    const opponent = await locking(t, url)
    await opponent.query("SET LOCAL deadlock_timeout = '1h'")
    await opponent.query(
      `INSERT INTO idempotency_key (workspace_id, environment, bucket, team_id, key_hash, fingerprint, provided_id, name,
                                    token_key_id, token_sealed, expires_at)
       VALUES (1, 'Customer', $1, $2, $3, $3, $4, 'N', 'k', $3, 9000)`,
      [bucketOf(group), group.teamId, idempotency.keyHash, group.providedId],
    )
    const rotated = store.userGroups.rotate(rotation(group.token, { idempotency }))
    // The store has locked the user group and waits for the key. The opponent completes the deadlock before the store checks for one.
    await waitingForLocks(session)
    await lock(opponent, group)
    await opponent.query('ROLLBACK')
    assert.equal((await rotated).outcome, 'rotated')
    assert.equal(proxy.count(statements.rotate), 2)
  })

  for (const isolation of ['repeatable read', 'serializable']) {
    it(`waits for a simultaneous change, with default isolation ${isolation}`, async (t) => {
      const url = await freshDatabase(t)
      await setForDatabase(t, url, `default_transaction_isolation = '${isolation}'`)
      const store = await openPostgres(t, url, longTimeouts)
      const group = await created(store)
      const other = await locking(t, url, group)
      const updated = store.userGroups.update({ key: group, ...rename('B') })
      await waitingForLocks(other)
      await other.query('COMMIT')
      assert.equal((await updated).outcome, 'updated')
    })

    it(`creates and rotates once with default isolation ${isolation}`, async (t) => {
      const url = await freshDatabase(t)
      await setForDatabase(t, url, `default_transaction_isolation = '${isolation}'`)
      const stores = [await openPostgres(t, url), await openPostgres(t, url), await openPostgres(t, url)]
      const key = freshKey()
      const many = stores.flatMap((store) => Array.from({ length: 4 }, () => store))
      const creations = await Promise.all(
        many.map((store) => store.userGroups.getOrCreate(creation({ key }))),
      )
      assert.deepEqual(count(creations), { created: 1, unchanged: 11 })
      const group = await stores[0]?.userGroups.find(key)
      assert.ok(group)
      const rotations = await Promise.all(many.map((store) => store.userGroups.rotate(rotation(group.token))))
      assert.deepEqual(count(rotations), { rotated: 1, superseded: 11 })
    })
  }

  it('is retried when a newer release has altered the tables of its prepared statements', async (t) => {
    const { store, url } = await openProxied(t)
    const tokenHash = randomBytes(32)
    const idempotency = { keyHash: randomBytes(32), fingerprint: randomBytes(32), expiresAt: 9000 }
    const group = await created(store)
    const command = rotation(group.token, { idempotency })
    assert.equal((await store.userGroups.rotate(command)).outcome, 'rotated')
    assert.equal((await store.userGroups.rotate(command)).outcome, 'replayed')
    assert.equal(await store.apiTokens.find(tokenHash), null)
    const session = await openSession(t, url)
    for (const table of ['user_group', 'superseded_token', 'idempotency_key', 'api_token', 'workspace']) {
      await session.query(`ALTER TABLE ${table} ADD COLUMN of_a_newer_release text`)
    }
    assert.equal(await store.apiTokens.find(tokenHash), null)
    assert.equal((await store.userGroups.rotate(command)).outcome, 'replayed')
    assert.equal((await store.userGroups.update({ key: group, ...rename('B') })).outcome, 'updated')
    assert.equal((await store.userGroups.getOrCreate(creation())).outcome, 'created')
    assert.equal((await store.workspaces.list()).length, 1)
  })

  for (const code of ['40001', '40P01', '53200', '57014', '57P01', '58030', 'XX000', '25006', '26000']) {
    it(`is retried after ${code}`, async (t) => {
      const { store, proxy } = await failing(t, code)
      assert.equal((await store.userGroups.getOrCreate(creation())).outcome, 'created')
      assert.equal(proxy.count(statements.createUserGroup), 2)
    })
  }

  it('is not retried after the lock timeout 55P03, and fails as unavailable', async (t) => {
    const { store } = await failing(t, '55P03')
    await assertUnavailable(store.userGroups.getOrCreate(creation()), { reason: '55P03', isAmbiguous: false })
  })

  it('is not retried once all ids are used, and fails as unavailable', async (t) => {
    const { store, url, proxy } = await openProxied(t)
    const session = await openSession(t, url)
    await session.query("SELECT setval('user_group_team_id_seq', 9007199254740990)")
    await assertUnavailable(store.userGroups.getOrCreate(creation()), {
      reason: '2200H',
      isAmbiguous: false,
    })
    assert.equal(proxy.count(/nextval/), 1)
  })

  it('gets another id if its id is taken, and the others keep their block of ids', async (t) => {
    const { store, url } = await openProxied(t)
    const session = await openSession(t, url)
    await session.query(
      `INSERT INTO user_group (workspace_id, environment, bucket, team_id, provided_id, name, token_hash, token_key_id, token_sealed,
                               token_issued_at, created_at, updated_at)
       SELECT 1, 'Testing', bucket, team_id, team_id || '/' || bucket, 'A', '', 'k', '', 1, 1, 1
       FROM generate_series(1, 20) AS team_id, generate_series(0, 1023) AS bucket`,
    )
    const groups = await Promise.all(Array.from({ length: 20 }, () => created(store)))
    const ids = groups.map(({ teamId }) => teamId)
    assert.equal(new Set(ids).size, 20)
    assert.ok(Math.min(...ids) > 500 && Math.max(...ids) <= 1000, ids.join())
    const { rows } = await session.query('SELECT last_value FROM user_group_team_id_seq')
    assert.deepEqual(rows, [{ last_value: '1000' }])
  })

  for (const code of ['22001', '23502', '42P01', '42883', 'P0001']) {
    it(`fails after ${code} as an internal error without the message of the server`, async (t) => {
      const { store } = await failing(t, code)
      await assert.rejects(store.userGroups.getOrCreate(creation()), (error) => {
        assert.ok(error instanceof Fault)
        const { message, reason, stack } = error
        assert.deepEqual(
          [error.code, message, reason],
          ['internal', 'Something went wrong on our side', code],
        )
        assert.doesNotMatch(String(stack), /words of the server/)
        assert.equal(error.cause, undefined)
        return true
      })
    })
  }

  it('fails without the others when it contains text that PostgreSQL cannot store', async (t) => {
    const { store } = await openProxied(t)
    const results = await Promise.allSettled(
      ['A', 'B', 'no \0 is kept', 'D'].map((name) =>
        store.userGroups.getOrCreate(creation({ change: { name } })),
      ),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
    const [, , failed] = results
    assert.ok(failed?.status === 'rejected' && failed.reason instanceof Fault)
    const { code, message, reason } = failed.reason
    assert.deepEqual([code, message, reason], ['internal', 'Something went wrong on our side', '22021'])
  })
})

describe('PostgreSQL: a session that the server ends', () => {
  it('is replaced when it is idle', async (t) => {
    const { store, url } = await openProxied(t)
    const session = await openSession(t, url)
    const groups = await Promise.all(Array.from({ length: 4 }, () => created(store)))
    await session.query(terminateOthers)
    for (const group of groups) assert.notEqual(await store.userGroups.find(group), null)
  })

  it('is replaced during a statement, which is retried', async (t) => {
    const { store, url, proxy } = await openProxied(t, longTimeouts)
    const group = await created(store)
    const other = await locking(t, url, group)
    const result = store.userGroups.rotate(rotation(group.token))
    await waitingForLocks(other)
    await other.query(terminateOthers)
    await other.query('COMMIT')
    assert.equal((await result).outcome, 'rotated')
    assert.equal(proxy.count(statements.rotate), 2)
  })

  for (const [when, pattern] of Object.entries({
    'as soon as it is open': /^SHOW/,
    'right after a result': /FROM user_group/,
    'right after a commit': statements.commit,
  })) {
    it(`is replaced when it ends ${when}`, async (t) => {
      const url = await freshDatabase(t)
      await (await openStore(parseDatabaseUrl(url), defaults)).close()
      const proxy = await DatabaseProxy.start(t, url)
      const next = proxy.next(pattern)
      const store = openPostgres(t, proxy.url)
      const calls = [
        store.then((opened) => opened.userGroups.find(freshKey())),
        store.then((opened) => opened.apiTokens.createFirst([])),
      ]
      const caught = await next
      caught.passLast()
      assert.deepEqual(await Promise.all(calls), [null, true])
      await (await store).ping()
    })
  }

  it('fails no operation and applies none twice, repeatedly under load', async (t) => {
    const { store, url } = await openProxied(t, { deadlineMs: 20_000 })
    const session = await openSession(t, url)
    let done = 0
    const work = Array.from({ length: 20 }, async () => {
      let group = await created(store)
      for (let i = 0; i < 10; i++) {
        const result = await store.userGroups.rotate(rotation(group.token))
        assert.equal(result.outcome, 'rotated')
        const found = await store.userGroups.find(group)
        assert.ok(found && 'userGroup' in result)
        assert.deepEqual(found.token, result.userGroup.token)
        group = found
        done++
      }
    })
    const all = Promise.all(work).finally(() => (done = Infinity))
    // Waits for more successes each time, so that the work makes progress.
    for (let next = 1; done < Infinity; next += 4) {
      while (done < next) await eventLoopTick()
      await session.query(terminateOthers)
    }
    await all
    const { rows } = await session.query(
      `SELECT (SELECT count(*)::int FROM superseded_token) AS superseded,
              (SELECT count(*)::int FROM user_group) AS user_groups`,
    )
    assert.deepEqual(rows, [{ superseded: 200, user_groups: 20 }])
  })
})

describe('PostgreSQL: a server that accepts no more connections', () => {
  it('fails no operation while existing connections remain', async (t) => {
    const url = await freshDatabase(t)
    const limited = await freshRole(t, url, 'LOGIN CONNECTION LIMIT 2')
    await openPostgres(t, url)
    const session = await openSession(t, url)
    await session.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${new URL(limited).username};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${new URL(limited).username}`)
    const { store } = await openProxied(t, { migrate: 'check', deadlineMs: 20_000 }, {}, limited)
    const work = Array.from({ length: 40 }, async (_, i) => {
      await store.workspaces.create(newWorkspace(`w${i}`))
      await created(store)
      await store.apiTokens.list()
    })
    await Promise.all(work)
  })

  it('makes the start fail with a remedy when no connection is possible', async (t) => {
    const url = await freshDatabase(t)
    const limited = await freshRole(t, url, 'LOGIN CONNECTION LIMIT 0')
    await assert.rejects(openPostgres(t, limited, brief), {
      name: 'StoreError',
      message: /: the server accepts no connections at the moment; retry later \(53300\)$/,
    })
  })
})

describe('PostgreSQL: an error with which the server keeps the session', () => {
  it('loses no connection, although the commit is ambiguous, as when a Citus worker does not respond', async (t) => {
    const location = parseDatabaseUrl(await freshDatabase(t))
    assert.ok(location.kind === 'postgres')
    const primary = new PrimaryPool(location.server, defaults)
    const pid = async () => (await primary.query('SELECT pg_backend_pid()'))[0]
    const first = await pid()
    const raise = primary.query("DO $$ BEGIN RAISE EXCEPTION 'unreachable' USING ERRCODE = '08006'; END $$")
    await assert.rejects(raise, { code: '08006', isRetryable: true, isAmbiguous: true })
    assert.deepEqual(await pid(), first)
    assert.equal(primary.lossCount, 0)
    await primary.close()
  })
})
