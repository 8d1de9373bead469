import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import { hashToken } from '../../../src/domain/token/token.ts'
import { UserGroupService } from '../../../src/domain/user-group/user-group-service.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { defaults } from '../../store/store-options.ts'
import { temporaryFolder } from '../../support/service.ts'

const path = join(temporaryFolder({ after }), 'ugs.db')
const store = await openStore({ kind: 'sqlite', path }, defaults)
after(() => store.close())
const keyring = new Keyring([generateSecretKey('k1')])
const tenantScope = {
  workspaceId: 1,
  environment: 'Customer',
  author: 'api_token:1',
  requestId: null,
} as const

/** Returns a service whose clock is at `time.now` milliseconds. */
const time = { now: 1_000_000 }
const userGroups = new UserGroupService({
  store,
  keyring,
  clock: { now: () => time.now },
  mappingMode: 'free',
})

async function create(id: string) {
  return (await userGroups.getOrCreate(tenantScope, id, { name: 'A' }, true)).userGroup
}

describe('time limits of the operations on user groups', () => {
  it('keep a superseded token valid for exactly its grace period', async () => {
    const { token } = await create('grace')
    await userGroups.rotate(tenantScope, { target: { currentToken: token }, gracePeriodSeconds: 60 })
    const find = () => store.userGroups.findByToken(1, 'Customer', hashToken(token), time.now)
    time.now += 59_999
    assert.notEqual(await find(), null)
    time.now += 1
    assert.equal(await find(), null)
  })

  it('return the first response to a retry for exactly 24 hours', async () => {
    const { token } = await create('retry')
    const rotation = {
      target: { currentToken: token },
      gracePeriodSeconds: 0,
      idempotency: { key: 'a key', fingerprint: Buffer.alloc(32) },
    }
    const first = await userGroups.rotate(tenantScope, rotation)
    time.now += 24 * 60 * 60 * 1000 - 1
    assert.deepEqual(await userGroups.rotate(tenantScope, rotation), first)
    time.now += 1
    await assert.rejects(userGroups.rotate(tenantScope, rotation), { code: 'token_superseded' })
  })

  it('decrypt a token only for its own user group', async () => {
    await create('owner')
    await create('thief')
    const database = new BetterSqlite3(path)
    database.exec(
      `UPDATE user_group SET token_sealed = (SELECT token_sealed FROM user_group WHERE provided_id = 'owner')
       WHERE provided_id = 'thief'`,
    )
    database.close()
    await assert.rejects(create('thief'), { name: 'Fault', code: 'unavailable', reason: /^TOKEN_SEALED: / })
    assert.match((await create('owner')).token, /^ugt_customer_/)
  })

  it('decrypt no token that they have just issued', async (t) => {
    const open = t.mock.method(keyring, 'open')
    const { token } = await create('issued')
    const rotated = await userGroups.rotate(tenantScope, {
      target: { currentToken: token },
      gracePeriodSeconds: 0,
    })
    assert.equal(open.mock.callCount(), 0)
    assert.equal((await create('issued')).token, rotated.token)
    assert.equal(open.mock.callCount(), 1)
  })
})
