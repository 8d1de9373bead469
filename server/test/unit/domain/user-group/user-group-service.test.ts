import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { generateSecretKey, Keyring } from '../../../../src/domain/secret-key/keyring.ts'
import { LocatorCodec } from '../../../../src/domain/user-group/locator.ts'
import { generateUserGroupToken, locatorOf } from '../../../../src/domain/token/token.ts'
import { bucketOf } from '../../../../src/domain/user-group/location.ts'
import { UserGroupService } from '../../../../src/domain/user-group/user-group-service.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { defaults } from '../../../store/store-options.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { unknownToken } from '../../../support/tokens.ts'

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
    const reference = userGroups.referenceOf(token)
    assert.ok(reference)
    const find = () => store.userGroups.findByToken(1, 'Customer', reference, time.now)
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

describe('the token of a user group', () => {
  it('locates the user group, also after a rotation', async () => {
    const { token, teamId } = await create('located')
    const bucket = bucketOf({ ...tenantScope, providedId: 'located' })
    const locators = new LocatorCodec(store.locatorKey)
    const locationIn = (text: string) => locators.decode(locatorOf(text) ?? '')
    assert.deepEqual(locationIn(token), { bucket, teamId })
    const rotated = await userGroups.rotate(tenantScope, {
      target: { currentToken: token },
      gracePeriodSeconds: 0,
    })
    assert.deepEqual(locationIn(rotated.token), { bucket, teamId })
    assert.notEqual(rotated.token, token)
  })

  it('is looked up only if its form and its locator are valid', async (t) => {
    const find = t.mock.method(store.userGroups, 'findByToken')
    const rotate = t.mock.method(store.userGroups, 'rotate')
    const { token } = await create('form')
    const invented = [
      '',
      'x',
      `${token}0`,
      token.slice(0, -1),
      token.replace('customer', 'testing'),
      unknownToken('Customer'),
      generateUserGroupToken('Customer', '0'.repeat(22)),
      generateUserGroupToken('Customer', 'z'.repeat(22)),
    ]
    for (const text of invented) {
      assert.equal(await userGroups.introspect(tenantScope, text), null)
      for (const idempotency of [{}, { idempotency: { key: 'a key', fingerprint: Buffer.alloc(32) } }]) {
        const rotation = { target: { currentToken: text }, gracePeriodSeconds: 0, ...idempotency }
        await assert.rejects(userGroups.rotate(tenantScope, rotation), { code: 'token_not_found' })
      }
    }
    assert.deepEqual(
      [find, rotate].map(({ mock }) => mock.callCount()),
      [0, 0],
    )
    assert.equal((await userGroups.introspect(tenantScope, token))?.userGroup.providedId, 'form')
    assert.equal(find.mock.callCount(), 1)
  })

  it('is verified as a whole: a valid locator is not enough', async () => {
    const { token } = await create('verified')
    const forged = generateUserGroupToken('Customer', locatorOf(token) ?? '')
    assert.equal(await userGroups.introspect(tenantScope, forged), null)
    const rotation = { target: { currentToken: forged }, gracePeriodSeconds: 0 }
    await assert.rejects(userGroups.rotate(tenantScope, rotation), { code: 'token_not_found' })
    assert.notEqual(await userGroups.introspect(tenantScope, token), null)
  })
})
