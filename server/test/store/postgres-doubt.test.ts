import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import type { RotateOutcome, RotateUserGroupToken } from '../../src/domain/store.ts'
import type { CaughtStatement, DatabaseProxy } from '../support/database-proxy.ts'
import { openSession } from '../support/session.ts'
import {
  created,
  creation,
  openPostgres,
  openProxied,
  rotation,
  statements,
  valueOf,
} from './postgres-support.ts'
import { count, freshKey, hashOf, plain, text } from './store-fixtures.ts'

/** Loses the connection under a statement; `repeated` is the next such statement. */
type Lose = (caught: CaughtStatement, repeated: () => Promise<CaughtStatement>) => void | Promise<void>

const drop: Lose = (caught) => caught.drop()

const runUntold: Lose = async (caught) => {
  await caught.run()
  caught.cutOff()
}

const runLate: Lose = async (caught, repeated) => {
  const next = repeated()
  caught.cutOff()
  const repetition = await next
  await caught.run()
  repetition.pass()
}

/** Where a connection is lost, as the test's title says it. */
const losses = {
  'before the server has it': drop,
  'after it has happened, before anybody knows': runUntold,
  'and it happens after all, beside its repetition': runLate,
}

/** A test for each way in which the connection under a statement can be lost. */
function eachLoss(title: string, test: (t: TestContext, lose: Lose) => Promise<void>): void {
  for (const [when, lose] of Object.entries(losses))
    it(`${title}, where its connection is lost ${when}`, (t) => test(t, lose))
}

/** Loses the connection under the next such statement of `operation`; what that then comes to. */
async function losing<T>(
  proxy: DatabaseProxy,
  pattern: RegExp,
  lose: Lose,
  operation: () => Promise<T>,
  repeatedPattern = pattern,
): Promise<T> {
  const next = proxy.next(pattern)
  const result = operation()
  await lose(await next, () => proxy.next(repeatedPattern))
  return result
}

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
    eachLoss(`is made once, ${kind}`, async (t, lose) => {
      const { store, proxy, url } = await openProxied(t)
      const group = await created(store)
      const command = rotation(group.token, over())
      const result = await losing(proxy, statements.rotate, lose, () => store.rotateUserGroupToken(command))
      assert.equal(result.outcome, 'rotated')
      const token = tokenOf(result)
      assert.notEqual(token, text(group.token.sealed))
      assert.equal(text((await store.findUserGroup(group))?.token.sealed ?? Buffer.alloc(0)), token)
      const session = await openSession(t, url)
      assert.equal(await valueOf(session, 'SELECT count(*)::int FROM superseded_token'), 1)
      const again = await store.rotateUserGroupToken(command)
      if (command.idempotency === undefined) assert.deepEqual(again, { outcome: 'superseded' })
      else assert.deepEqual([again.outcome, tokenOf(again)], ['replayed', token])
    })
  }

  eachLoss('is made once, by the id of its user group', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const group = await created(store)
    const command = rotation(group.token, { target: { providedId: group.providedId } })
    const result = await losing(proxy, statements.rotate, lose, () => store.rotateUserGroupToken(command))
    const after = await store.findUserGroup(group)
    assert.deepEqual(plain(after?.token), plain('userGroup' in result && result.userGroup.token))
    const old = await store.findByToken(1, 'Customer', hashOf(group.token), 1999)
    assert.equal(old?.validUntil, 2000)
  })

  eachLoss('is made once for each of many that share the statement', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const groups = await Promise.all(Array.from({ length: 20 }, () => created(store)))
    const results = await losing(proxy, statements.rotate, lose, () =>
      Promise.all(groups.map(({ token }) => store.rotateUserGroupToken(rotation(token)))),
    )
    assert.deepEqual(count(results), { rotated: 20 })
    const after = await Promise.all(groups.map((group) => store.findUserGroup(group)))
    assert.deepEqual(
      after.map((group) => group && text(group.token.sealed)),
      results.map(tokenOf),
    )
  })

  it('is its own where its token has been rotated in turn, before it could find out', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const lose: Lose = async (caught) => {
      await caught.run()
      const current = await other.findUserGroup(group)
      assert.ok(current)
      assert.equal((await other.rotateUserGroupToken(rotation(current.token))).outcome, 'rotated')
      caught.cutOff()
    }
    const result = await losing(proxy, statements.rotate, lose, () =>
      store.rotateUserGroupToken(rotation(group.token)),
    )
    assert.equal(result.outcome, 'rotated')
    const owner = await store.findByToken(1, 'Customer', hashOf({ sealed: tokenBytes(result) }), 1999)
    assert.deepEqual([owner?.userGroup.teamId, owner?.validUntil], [group.teamId, 2000])
  })

  it('is refused where it did not happen and another has been made meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const lose: Lose = async (caught) => {
      assert.equal((await other.rotateUserGroupToken(rotation(group.token))).outcome, 'rotated')
      caught.drop()
    }
    const result = await losing(proxy, statements.rotate, lose, () =>
      store.rotateUserGroupToken(rotation(group.token)),
    )
    assert.deepEqual(result, { outcome: 'superseded' })
  })

  it('is told to another process that sends the same idempotency key before it is known', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const group = await created(store)
    const command = rotation(group.token, { idempotency: idempotency() })
    const told: RotateOutcome[] = []
    const lose: Lose = async (caught) => {
      await caught.run()
      told.push(await other.rotateUserGroupToken(command))
      caught.cutOff()
    }
    const result = await losing(proxy, statements.rotate, lose, () => store.rotateUserGroupToken(command))
    assert.equal(result.outcome, 'rotated')
    assert.deepEqual(
      told.map((outcome) => [outcome.outcome, tokenOf(outcome)]),
      [['replayed', tokenOf(result)]],
    )
  })
})

function tokenBytes(outcome: RotateOutcome): Uint8Array {
  return Buffer.from(tokenOf(outcome), 'hex')
}

describe('PostgreSQL: a creation', () => {
  eachLoss('says created, with its own token', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const command = creation()
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.getOrCreateUserGroup(command),
    )
    assert.equal(result.outcome, 'created')
    assert.ok('userGroup' in result)
    assert.deepEqual(plain(await store.findUserGroup(command.key)), plain(result.userGroup))
    assert.equal((await store.getOrCreateUserGroup(command)).outcome, 'unchanged')
  })

  eachLoss('says created to each of many that share the statement', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const results = await losing(proxy, statements.createUserGroup, lose, () =>
      Promise.all(Array.from({ length: 20 }, () => store.getOrCreateUserGroup(creation()))),
    )
    assert.deepEqual(count(results), { created: 20 })
  })

  it('says created once where another process asks for the same before it is known', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const command = creation()
    const others: unknown[] = []
    const lose: Lose = async (caught) => {
      await caught.run()
      others.push(await other.getOrCreateUserGroup(command))
      caught.cutOff()
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.getOrCreateUserGroup(command),
    )
    assert.equal(result.outcome, 'created')
    assert.deepEqual(plain(others), plain([{ ...result, outcome: 'unchanged' }]))
  })

  it('gives way where it did not happen and another process has created the same', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const command = creation()
    const others: unknown[] = []
    const lose: Lose = async (caught) => {
      others.push(await other.getOrCreateUserGroup(command))
      caught.drop()
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.getOrCreateUserGroup(command),
    )
    assert.equal(result.outcome, 'unchanged')
    assert.deepEqual(plain(others), plain([{ ...result, outcome: 'created' }]))
  })

  it('says created where another process has changed its user group before it is known', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const command = creation()
    const lose: Lose = async (caught) => {
      await caught.run()
      await other.updateUserGroup({ key: command.key, change: { name: 'B' }, now: 1500 })
      caught.cutOff()
    }
    const result = await losing(proxy, statements.createUserGroup, lose, () =>
      store.getOrCreateUserGroup(command),
    )
    assert.equal(result.outcome, 'created')
    assert.equal((await other.findUserGroup(command.key))?.name, 'A')
  })
})

describe('PostgreSQL: an update', () => {
  eachLoss('says updated', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const key = await created(store)
    const command = { key, change: { name: 'B', properties: '{"a":1}' }, now: 3000 }
    const result = await losing(proxy, statements.update, lose, () => store.updateUserGroup(command))
    assert.equal(result.outcome, 'updated')
    const group = await store.findUserGroup(key)
    assert.deepEqual([group?.name, group?.properties, group?.updatedAt], ['B', '{"a":1}', 3000])
    assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(group))
  })

  eachLoss('is made once by a get too', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { token } = await created(store, { key: { ...freshKey(), providedId: 'got' } })
    const key = { ...freshKey(), providedId: 'got' }
    const result = await losing(proxy, statements.update, lose, () =>
      store.getOrCreateUserGroup(creation({ key, change: { name: 'B' }, now: 3000 })),
    )
    assert.notEqual(result.outcome, 'created')
    const group = await store.findUserGroup(key)
    assert.deepEqual([group?.name, group?.updatedAt], ['B', 3000])
    assert.deepEqual(plain(group?.token), plain(token))
  })
})

describe('PostgreSQL: whatever else changes the store', () => {
  eachLoss('deletes a user group once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const key = await created(store)
    assert.equal(
      await losing(proxy, statements.deleteUserGroup, lose, () => store.deleteUserGroup(key)),
      true,
    )
    assert.equal(await store.findUserGroup(key), null)
    assert.equal(await store.deleteUserGroup(key), false)
  })

  it('deletes no other that has been created with the same id before it is known', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const key = await created(store)
    const others: number[] = []
    const lose: Lose = async (caught) => {
      await caught.run()
      others.push((await created(other, { key })).teamId)
      caught.cutOff()
    }
    const wasDeleted = await losing(proxy, statements.deleteUserGroup, lose, () => store.deleteUserGroup(key))
    assert.equal(wasDeleted, true)
    assert.deepEqual([(await store.findUserGroup(key))?.teamId], others)
    assert.notEqual(others[0], key.teamId)
  })

  eachLoss('makes a workspace once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const made = await losing(proxy, statements.createWorkspace, lose, () => store.createWorkspace('new', 7))
    assert.equal(made?.name, 'new')
    assert.equal((await store.listWorkspaces()).length, 2)
    assert.equal(await store.createWorkspace('new', 8), null)
  })

  it('makes no workspace whose name another process has taken meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const lose: Lose = async (caught) => {
      assert.notEqual(await other.createWorkspace('new', 8), null)
      caught.drop()
    }
    assert.equal(
      await losing(proxy, statements.createWorkspace, lose, () => store.createWorkspace('new', 7)),
      null,
    )
  })

  const apiToken = () =>
    ({
      tokenHash: randomBytes(32),
      workspaceId: 1,
      environment: 'Customer',
      name: 'A',
      scopes: ['write'],
      createdAt: 1000,
      expiresAt: null,
    }) as const

  eachLoss('makes an API token once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const token = apiToken()
    const made = await losing(proxy, statements.createApiToken, lose, () => store.createApiToken(token))
    assert.deepEqual(await store.listApiTokens(), [made])
    assert.deepEqual(await store.findApiToken(token.tokenHash), made)
  })

  eachLoss('makes the first API tokens once, and says so', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const tokens = [apiToken(), apiToken()]
    const wereMade = await losing(
      proxy,
      statements.commit,
      lose,
      () => store.createFirstApiTokens(tokens),
      // The repetition waits there, until the commit.
      /^LOCK TABLE/,
    )
    assert.equal(wereMade, true)
    assert.equal((await store.listApiTokens()).length, 2)
    assert.equal(await store.createFirstApiTokens([apiToken()]), false)
  })

  eachLoss('revokes an API token once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.createApiToken(apiToken())
    const revoked = await losing(proxy, statements.revokeApiToken, lose, () => store.revokeApiToken(id, 2000))
    assert.equal(revoked?.revokedAt, 2000)
    assert.equal((await store.revokeApiToken(id, 3000))?.revokedAt, 2000)
  })

  eachLoss('keeps the check of a secret key', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const check = { keyId: 'k1', sealed: Buffer.from([1, 2, 3]) }
    const kept = await losing(proxy, statements.addSecretKeyCheck, lose, () => store.addSecretKeyCheck(check))
    assert.deepEqual(plain(kept), plain(check))
    assert.deepEqual(plain(await store.listSecretKeyChecks()), plain([check]))
  })
})
