import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import { countSealedTokens, resealTokens } from '../../../src/domain/secret-key/secret-key-management.ts'
import { UserGroupService } from '../../../src/domain/user-group/user-group-service.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { defaults } from '../../store/store-options.ts'
import { temporaryFolder } from '../../support/service.ts'

const caller = { workspaceId: 1, environment: 'Testing', author: 'api_token:1', requestId: null } as const
const settled = () => Promise.resolve()
const [old, lost, sealing] = ['old', 'lost', 'sealing'].map(generateSecretKey) as [Key, Key, Key]
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

describe('sealing anew', () => {
  it('leaves what the keys do not open as it is, and tells of it', async () => {
    const { store, tokenWith } = await freshStore()
    const token = await tokenWith([old], 'a')
    await tokenWith([lost], 'b')
    const keyring = new Keyring([sealing, old])
    const { resealed, unopened } = await resealTokens(store, keyring, () => undefined, settled)
    assert.deepEqual([resealed, unopened.map(({ userGroup }) => userGroup.providedId)], [1, ['b']])
    assert.deepEqual(
      await countSealedTokens(store),
      new Map([
        ['sealing', 1],
        ['lost', 1],
      ]),
    )
    assert.equal(await tokenWith([sealing], 'a'), token)
    await tokenWith([lost], 'b')
  })

  it('takes along what a service seals behind it with the old key, and tells how far it is', async () => {
    const { store, tokenWith } = await freshStore()
    for (let i = 0; i < 450; i++) await tokenWith([old], `group ${i}`)
    let sealedBehind = false
    const progress: [number, number][] = []
    const over = {
      listSealedTokens: store.listSealedTokens.bind(store),
      replaceSealedTokens: async (...tokens: Parameters<typeof store.replaceSealedTokens>) => {
        if (!sealedBehind) await tokenWith([old], 'group')
        sealedBehind = true
        return store.replaceSealedTokens(...tokens)
      },
    }
    const report = (done: number, pass: number) => void progress.push([pass, done])
    const { resealed, sealedMeanwhile } = await resealTokens(
      over,
      new Keyring([sealing, old]),
      report,
      settled,
    )
    assert.deepEqual([resealed, sealedMeanwhile], [451, 0])
    assert.deepEqual(await countSealedTokens(store), new Map([['sealing', 451]]))
    assert.deepEqual(progress.filter(([pass]) => pass === 2).at(-1), [2, 451])
  })

  it('ends, and tells of it, where a process goes on sealing with the old key', async () => {
    const { store, tokenWith } = await freshStore()
    let made = 0
    let passes = 0
    const over = {
      listSealedTokens: async (...query: Parameters<typeof store.listSealedTokens>) => {
        await tokenWith([old], `group ${made++}`)
        return store.listSealedTokens(...query)
      },
      replaceSealedTokens: store.replaceSealedTokens.bind(store),
    }
    const report = (_done: number, pass: number) => void (passes = pass)
    const outcome = await resealTokens(over, new Keyring([sealing, old]), report, settled)
    assert.ok(outcome.sealedMeanwhile > 0)
    assert.equal(passes, 4)
    assert.equal((await countSealedTokens(store)).get('sealing'), outcome.resealed)
  })

  it('looks again only once every process is to seal with the same key', async () => {
    const { store, tokenWith } = await freshStore()
    await tokenWith([old], 'before')
    const { resealed } = await resealTokens(
      store,
      new Keyring([sealing, old]),
      () => undefined,
      async () => {
        await tokenWith([old], 'meanwhile')
      },
    )
    assert.equal(resealed, 2)
  })
})
