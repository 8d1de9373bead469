import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { generateSecretKey, Keyring } from '../../src/domain/secret-key/keyring.ts'
import { countEncryptedTokens, reencryptTokens } from '../../src/domain/reencryption/reencryption.ts'
import { UserGroupService } from '../../src/domain/user-group/user-group-service.ts'
import { openStore } from '../../src/store/open-store.ts'
import { defaults } from './store-options.ts'
import { temporaryFolder } from '../support/service.ts'

const caller = { workspaceId: 1, environment: 'Testing', author: 'api_token:1', requestId: null } as const
const settled = () => Promise.resolve()
const [old, lost, current] = ['old', 'lost', 'current'].map(generateSecretKey) as [Key, Key, Key]
type Key = ReturnType<typeof generateSecretKey>

async function freshStore() {
  const scope = { after }
  const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder(scope), 'ugs.db') }, defaults)
  after(() => store.close())
  const tokenWith = async (keys: Key[], id: string) => {
    const parts = {
      store,
      keyring: new Keyring(keys),
      clock: { now: () => 1000 },
      mappingMode: 'free',
    } as const
    const { userGroup } = await new UserGroupService(parts).getOrCreate(caller, id, { name: 'Name' }, true)
    return userGroup.token
  }
  return { store, tokenWith }
}

describe('re-encryption', () => {
  it('leaves and reports tokens that it cannot decrypt', async () => {
    const { store, tokenWith } = await freshStore()
    const token = await tokenWith([old], 'a')
    await tokenWith([lost], 'b')
    const keyring = new Keyring([current, old])
    const { reencrypted, undecryptable } = await reencryptTokens(store, keyring, () => undefined, settled)
    assert.deepEqual(
      [reencrypted, undecryptable.map(({ owner }) => 'providedId' in owner && owner.providedId)],
      [1, ['b']],
    )
    assert.deepEqual(
      await countEncryptedTokens(store),
      new Map([
        ['current', 1],
        ['lost', 1],
      ]),
    )
    assert.equal(await tokenWith([current], 'a'), token)
    await tokenWith([lost], 'b')
  })

  it('also re-encrypts tokens that a service encrypts with the old key meanwhile, and reports progress', async () => {
    const { store, tokenWith } = await freshStore()
    for (let i = 0; i < 450; i++) await tokenWith([old], `group ${i}`)
    let hasEncrypted = false
    const progress: [number, number][] = []
    const encryptedTokens = {
      ...store.encryptedTokens,
      replace: async (...tokens: Parameters<typeof store.encryptedTokens.replace>) => {
        if (!hasEncrypted) await tokenWith([old], 'group')
        hasEncrypted = true
        return store.encryptedTokens.replace(...tokens)
      },
    }
    const report = (done: number, pass: number) => void progress.push([pass, done])
    const { reencrypted, encryptedMeanwhile } = await reencryptTokens(
      { encryptedTokens },
      new Keyring([current, old]),
      report,
      settled,
    )
    assert.deepEqual([reencrypted, encryptedMeanwhile], [451, 0])
    assert.deepEqual(await countEncryptedTokens(store), new Map([['current', 451]]))
    assert.deepEqual(progress.filter(([pass]) => pass === 2).at(-1), [2, 451])
  })

  it('ends and reports it if a process keeps encrypting with the old key', async () => {
    const { store, tokenWith } = await freshStore()
    let created = 0
    let passes = 0
    const encryptedTokens = {
      ...store.encryptedTokens,
      list: async (...query: Parameters<typeof store.encryptedTokens.list>) => {
        await tokenWith([old], `group ${created++}`)
        return store.encryptedTokens.list(...query)
      },
    }
    const report = (_done: number, pass: number) => void (passes = pass)
    const outcome = await reencryptTokens({ encryptedTokens }, new Keyring([current, old]), report, settled)
    assert.ok(outcome.encryptedMeanwhile > 0)
    assert.equal(passes, 4)
    assert.equal((await countEncryptedTokens(store)).get('current'), outcome.reencrypted)
  })

  it('starts the second pass only after all processes use the same key', async () => {
    const { store, tokenWith } = await freshStore()
    await tokenWith([old], 'before')
    const { reencrypted } = await reencryptTokens(
      store,
      new Keyring([current, old]),
      () => undefined,
      async () => {
        await tokenWith([old], 'meanwhile')
      },
    )
    assert.equal(reencrypted, 2)
  })
})
