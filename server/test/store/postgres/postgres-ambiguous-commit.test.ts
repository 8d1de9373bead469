import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import type {
  GetOrCreateOutcome,
  RotateOutcome,
  RotateUserGroupToken,
} from '../../../src/domain/user-group/user-group-store.ts'
import { openSession } from '../../support/session.ts'
import { eachLoss, losing, type Lose } from './losing-connections.ts'
import {
  created,
  creation,
  openPostgres,
  openProxied,
  rotation,
  statements,
  valueOf,
  waitingForLocks,
} from './postgres-support.ts'
import { userGroupOf, unchanged, withoutState } from '../contract/created-user-group.ts'
import { count, referenceOf, actor, plain, text } from '../contract/store-fixtures.ts'

function tokenOf(outcome: RotateOutcome): string {
  assert.ok('userGroup' in outcome, outcome.outcome)
  return text(outcome.userGroup.token.sealed)
}

const idempotency = () => ({ keyHash: randomBytes(32), fingerprint: randomBytes(32), expiresAt: 9000 })

describe('PostgreSQL: a rotation', () => {
  const kinds: Record<string, () => Partial<RotateUserGroupToken>> = {
    'by its token': () => ({}),
    'with an idempotency key': () => ({ idempotency: idempotency() }),
  }
  for (const [kind, over] of Object.entries(kinds)) {
    eachLoss(`is applied once, ${kind}`, async (t, lose) => {
      const { store, proxy, url } = await openProxied(t)
      const group = await created(store)
      const command = rotation(group.token, over())
      const result = await losing(proxy, statements.rotate, lose, () => store.userGroups.rotate(command))
      assert.equal(result.outcome, 'rotated')
      const token = tokenOf(result)
      assert.notEqual(token, text(group.token.sealed))
      assert.equal(text((await store.userGroups.find(group))?.token.sealed ?? Buffer.alloc(0)), token)
      const session = await openSession(t, url)
      assert.equal(await valueOf(session, 'SELECT count(*)::int FROM superseded_token'), 1)
      const again = await store.userGroups.rotate(command)
      if (command.idempotency === undefined) assert.deepEqual(again, { outcome: 'superseded' })
      else assert.deepEqual([again.outcome, tokenOf(again)], ['replayed', token])
    })
  }

  eachLoss('is applied once, by the id of its user group', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store)
    const command = rotation(group.token, { target: { providedId: group.providedId } })
    const result = await losing(proxy, statements.rotate, lose, () => store.userGroups.rotate(command))
    const after = await store.userGroups.find(group)
    assert.deepEqual(plain(after?.token), plain('userGroup' in result && result.userGroup.token))
    const old = await store.userGroups.findByToken(1, 'Customer', referenceOf(group.token), 1999)
    assert.equal(old?.validUntil, 2000)
  })

  eachLoss('is applied once for each of many that share a statement', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const groups = await Promise.all(Array.from({ length: 20 }, () => created(store)))
    const results = await losing(proxy, statements.rotate, lose, () =>
      Promise.all(groups.map(({ token }) => store.userGroups.rotate(rotation(token)))),
    )
    assert.deepEqual(count(results), { rotated: 20 })
    const after = await Promise.all(groups.map((group) => store.userGroups.find(group)))
    assert.deepEqual(
      after.map((group) => group && text(group.token.sealed)),
      results.map(tokenOf),
    )
  })

  for (const [kind, find, byId] of [
    ['by its token', statements.findByToken, false],
    ['by the id of its user group', statements.find, true],
  ] as const) {
    const lookUps = [find, statements.findByToken]
    it(`is recognized when the lost statement runs during the lookups, ${kind}`, async (t) => {
      const { store, proxy, url } = await openProxied(t)
      const group = await created(store)
      // The lost statement runs between any two of the following lookups.
      for (const passed of lookUps.keys()) {
        const current = (await store.userGroups.find(group))?.token ?? group.token
        const next = proxy.next(statements.rotate)
        const result = store.userGroups.rotate(
          rotation(current, byId ? { target: { providedId: group.providedId } } : {}),
        )
        const caught = await next
        let look = proxy.next(find)
        caught.cutOff()
        let held = await look
        for (const lookUp of lookUps.slice(1, passed + 1)) {
          look = proxy.next(lookUp)
          held.pass()
          held = await look
        }
        await caught.run()
        held.pass()
        const outcome = await result
        assert.equal(outcome.outcome, 'rotated')
        assert.equal(
          text((await store.userGroups.find(group))?.token.sealed ?? Buffer.alloc(0)),
          tokenOf(outcome),
        )
      }
      const session = await openSession(t, url)
      assert.equal(await valueOf(session, 'SELECT count(*)::int FROM superseded_token'), lookUps.length)
    })
  }

  it('is recognized when another process rotates the new token before the lookup', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const lose: Lose = async (caught) => {
      await caught.run()
      const current = await other.userGroups.find(group)
      assert.ok(current)
      assert.equal((await other.userGroups.rotate(rotation(current.token))).outcome, 'rotated')
      caught.cutOff()
    }
    const result = await losing(proxy, statements.rotate, lose, () =>
      store.userGroups.rotate(rotation(group.token)),
    )
    assert.equal(result.outcome, 'rotated')
    const owner = await store.userGroups.findByToken(
      1,
      'Customer',
      referenceOf({ sealed: tokenBytes(result) }),
      1999,
    )
    assert.deepEqual([owner?.userGroup.teamId, owner?.validUntil], [group.teamId, 2000])
  })

  it('is refused when it was not applied and another process rotates meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const lose: Lose = async (caught) => {
      assert.equal((await other.userGroups.rotate(rotation(group.token))).outcome, 'rotated')
      caught.drop()
    }
    const result = await losing(proxy, statements.rotate, lose, () =>
      store.userGroups.rotate(rotation(group.token)),
    )
    assert.deepEqual(result, { outcome: 'superseded' })
  })

  it('is replayed to another process that sends the same idempotency key before the retry', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const command = rotation(group.token, { idempotency: idempotency() })
    const replayed: RotateOutcome[] = []
    const lose: Lose = async (caught) => {
      await caught.run()
      replayed.push(await other.userGroups.rotate(command))
      caught.cutOff()
    }
    const result = await losing(proxy, statements.rotate, lose, () => store.userGroups.rotate(command))
    assert.equal(result.outcome, 'rotated')
    assert.deepEqual(
      replayed.map((outcome) => [outcome.outcome, tokenOf(outcome)]),
      [['replayed', tokenOf(result)]],
    )
  })
})

function tokenBytes(outcome: RotateOutcome): Uint8Array {
  return Buffer.from(tokenOf(outcome), 'hex')
}

describe('PostgreSQL: a creation', () => {
  eachLoss('reports created, with its own token', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const command = creation()
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.userGroups.getOrCreate(command),
    )
    assert.equal(result.outcome, 'created')
    assert.ok('userGroup' in result)
    assert.deepEqual(plain(await store.userGroups.find(command.key)), plain(result.userGroup))
    assert.equal((await store.userGroups.getOrCreate(command)).outcome, 'unchanged')
  })

  it('reports created when the lost statement runs during its retry', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const session = await openSession(t, url)
    await session.query('SELECT pg_advisory_lock(1)')
    // The first row waits after the check that it is new, and before it enters the unique indexes.
    await session.query(`
      CREATE SEQUENCE rows_so_far;
      CREATE FUNCTION wait_as_first(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('rows_so_far') = 1 THEN PERFORM pg_advisory_lock(1); END IF;
        RETURN $1;
      END $$;
      CREATE INDEX before_the_others ON user_group (wait_as_first(name));
      ALTER TABLE user_group DROP CONSTRAINT user_group_pkey, ADD PRIMARY KEY (workspace_id, team_id, bucket);
      DROP INDEX user_group_provided_id;
      CREATE UNIQUE INDEX user_group_provided_id ON user_group (workspace_id, environment, provided_id, bucket)`)
    const command = creation()
    const lose: Lose = async (caught, repeated) => {
      const next = repeated()
      caught.cutOff()
      ;(await next).pass()
      await waitingForLocks(session)
      await caught.run()
      await session.query('SELECT pg_advisory_unlock(1)')
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.userGroups.getOrCreate(command),
    )
    assert.equal(result.outcome, 'created')
    assert.deepEqual(
      plain(await store.userGroups.find(command.key)),
      plain('userGroup' in result && result.userGroup),
    )
  })

  eachLoss('reports created to each of many that share a statement', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const results = await losing(proxy, statements.createUserGroup, lose, () =>
      Promise.all(Array.from({ length: 20 }, () => store.userGroups.getOrCreate(creation()))),
    )
    assert.deepEqual(count(results), { created: 20 })
  })

  it('reports created once when another process requests the same before the retry', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const command = creation()
    const others: unknown[] = []
    const lose: Lose = async (caught) => {
      await caught.run()
      others.push(withoutState(await other.userGroups.getOrCreate(command)))
      caught.cutOff()
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.userGroups.getOrCreate(command),
    )
    assert.equal(result.outcome, 'created')
    assert.deepEqual(plain(others), plain([unchanged(userGroupOf(result))]))
  })

  it('reports unchanged when it was not applied and another process created the same', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const command = creation()
    const others: GetOrCreateOutcome[] = []
    const lose: Lose = async (caught) => {
      others.push(await other.userGroups.getOrCreate(command))
      caught.drop()
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.userGroups.getOrCreate(command),
    )
    assert.deepEqual(
      plain([withoutState(result)]),
      plain(others.map((created) => unchanged(userGroupOf(created)))),
    )
  })

  it('reports created when another process changes the user group before the retry', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const command = creation()
    const lose: Lose = async (caught) => {
      await caught.run()
      await other.userGroups.update({ key: command.key, change: { name: 'B' }, ...actor, now: 1500 })
      caught.cutOff()
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.userGroups.getOrCreate(command),
    )
    assert.equal(result.outcome, 'created')
    assert.equal((await other.userGroups.find(command.key))?.name, 'A')
  })
})
