import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { generateSecretKey, Keyring } from '../../src/domain/secret-key/keyring.ts'
import { Fault } from '../../src/domain/fault.ts'
import { Promotion } from '../../src/domain/user-group/promotion.ts'
import type { Store } from '../../src/domain/store.ts'
import { UserGroupService } from '../../src/domain/user-group/user-group-service.ts'
import { openStore } from '../../src/store/open-store.ts'
import { defaults } from './store-options.ts'
import { temporaryFolder } from '../support/service.ts'

const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') }, defaults)
after(() => store.close())
const keyring = new Keyring([generateSecretKey('k1')])
const testing = { workspaceId: 1, environment: 'Testing', author: 'api_token:1', requestId: null } as const
const customer = { workspaceId: 1, environment: 'Customer', author: 'api_token:2', requestId: null } as const

/** Returns a promotion over the store with some methods replaced. */
function promotionOver(replaced: Partial<Store['userGroups']>) {
  const over = { ...store, userGroups: { ...store.userGroups, ...replaced } }
  const userGroups = new UserGroupService({
    store: over,
    keyring,
    clock: { now: () => 1_000_000 },
    mappingMode: 'registered',
  })
  return { userGroups, promotion: new Promotion({ store: over, userGroups }) }
}

const { userGroups, promotion } = promotionOver({})
const create = (caller: typeof testing | typeof customer, id: string, name: string) =>
  userGroups.getOrCreate(caller, id, { name }, true)
const outcomes = async (ids: string[], isDryRun = false) =>
  (await promotion.promote(customer, ids, isDryRun)).map(({ outcome }) => outcome)

describe('a promotion', () => {
  it('is refused without a store access for callers of another environment', async () => {
    await create(testing, 'refused', 'Name')
    const untouched = promotionOver({ find: () => assert.fail('the store was asked') })
    for (const isDryRun of [true, false])
      await assert.rejects(untouched.promotion.promote(testing, ['refused'], isDryRun), { code: 'forbidden' })
  })

  it("stays within the caller's workspace", async () => {
    await create(testing, 'of another', 'Name')
    const other = { ...customer, workspaceId: 2 }
    const [result] = await promotion.promote(other, ['of another'], false)
    assert.equal(result?.outcome, 'not_found')
  })

  it('returns the same result in a dry run, which changes nothing', async () => {
    await create(testing, 'new', 'Name')
    await create(testing, 'changed', 'New')
    await create(customer, 'changed', 'Old')
    const ids = ['new', 'changed', 'nobody']
    const expected = ['created', 'updated', 'not_found']
    assert.deepEqual(await outcomes(ids, true), expected)
    assert.deepEqual(await outcomes(ids, true), expected)
    assert.deepEqual(await outcomes(ids), expected)
    assert.deepEqual(await outcomes(ids), ['unchanged', 'unchanged', 'not_found'])
  })

  it('continues after a refused user group', async () => {
    const free = new UserGroupService({ store, keyring, clock: { now: () => 1 }, mappingMode: 'free' })
    await free.getOrCreate(testing, 'unregistered', { name: 'Name', mapping: '{"a":"b"}' }, true)
    await create(testing, 'fine', 'Name')
    for (const isDryRun of [true, false]) {
      const results = await promotion.promote(customer, ['unregistered', 'fine'], isDryRun)
      assert.deepEqual(
        results.map(({ outcome, message }) => [outcome, message]),
        [
          ['refused', 'mapping/a: is not a registered schema'],
          ['created', null],
        ],
      )
    }
  })

  it('does not report an unavailable store as a refusal', async () => {
    await create(testing, 'away', 'Name')
    const away = promotionOver({
      getOrCreate: () => Promise.reject(new Fault('unavailable', 'The store is away')),
    })
    await assert.rejects(away.promotion.promote(customer, ['away'], false), { code: 'unavailable' })
  })
})
