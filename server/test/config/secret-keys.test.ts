import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync, lstatSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Fault } from '../../src/domain/fault.ts'
import { Keyring, type SecretKey } from '../../src/domain/secret-key/keyring.ts'
import {
  changeSecretKeyFile,
  createSecretKeyFile,
  readSecretKeyFile,
} from '../../src/config/secret-key-file.ts'
import { watchSecretKeys } from '../../src/config/secret-keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import { defaults } from '../store/store-options.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { temporaryFolder } from '../support/service.ts'

const fileIn = (t: TestContext) => join(temporaryFolder(t), 'secret-keys')
const idsOf = (keys: readonly SecretKey[] | null) => keys?.map(({ id }) => id)

/** Adds keys again and again, as several processes would; returns the ids of those that were added. */
async function addInThread(file: string, name: string): Promise<string[]> {
  const worker = new Worker(
    `const { parentPort, workerData: { file, name, folder } } = require('node:worker_threads')
     Promise.all(['config/secret-key-file.js', 'domain/secret-key/keyring.js'].map((path) => import(folder + path))).then(
       ([{ changeSecretKeyFile }, { generateSecretKey }]) => {
         const added = []
         for (let i = 0; i < 200; i++) {
           try {
             changeSecretKeyFile(file, (keys) => [generateSecretKey(name + i), ...keys])
             added.push(name + i)
           } catch (error) {
             if (error.name !== 'LockedFileError') throw error
           }
         }
         parentPort.postMessage(added)
       },
     )`,
    { eval: true, workerData: { file, name, folder: new URL('../../dist/', import.meta.url).href } },
  )
  const [added] = (await once(worker, 'message')) as [string[]]
  return added
}

describe('the file of secret keys', () => {
  it('loses no key that was added, however many add keys at once', async (t) => {
    const file = fileIn(t)
    createSecretKeyFile(file)
    const added = (await Promise.all(['a', 'b', 'c', 'd'].map((name) => addInThread(file, name)))).flat()
    assert.ok(added.length > 0)
    assert.deepEqual(new Set(idsOf(readSecretKeyFile(file))), new Set(['k1', ...added]))
    assert.deepEqual(readdirSync(join(file, '..')), [basename(file)])
  })

  it('is changed where it is, behind a link', (t) => {
    const [file, link] = [fileIn(t), fileIn(t)]
    createSecretKeyFile(file)
    symlinkSync(file, link)
    changeSecretKeyFile(link, (keys) => [...keys, { id: 'k2', key: Buffer.alloc(32, 'k2') }])
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.deepEqual(idsOf(readSecretKeyFile(file)), ['k1', 'k2'])
  })

  it('stays as it was, and can be changed again, where a change fails', (t) => {
    const file = fileIn(t)
    const before = createSecretKeyFile(file)
    const fail = () => changeSecretKeyFile(file, () => assert.fail('it fails'))
    assert.throws(fail, /it fails/)
    assert.deepEqual(readSecretKeyFile(file), before)
    assert.throws(fail, /it fails/)
  })
})

describe('a service that follows the file', () => {
  const [old, added] = [secretKeyText('old', 1), secretKeyText('added', 2)]

  async function following(t: TestContext, isAway: () => boolean) {
    const file = fileIn(t)
    writeFileSync(file, old)
    const keyring = new Keyring(readSecretKeyFile(file) as SecretKey[])
    const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder(t), 'ugs.db') }, defaults)
    t.after(() => store.close())
    const told: string[] = []
    let wake: () => void = () => undefined
    const tell = (what: string) => () => {
      told.push(what)
      wake()
    }
    const watched = {
      ...store.secretKeys,
      listChecks: () => {
        if (isAway()) throw new Fault('unavailable', 'The store cannot be used at the moment')
        return store.secretKeys.listChecks()
      },
    }
    const config = { UGS_SECRET_KEYS: undefined, UGS_SECRET_KEYS_FILE: file, secretKeyFile: file }
    return {
      file,
      keyring,
      told,
      watch: () => {
        const on = { onChange: tell('changed'), onFailure: tell('failed') }
        t.after(watchSecretKeys(config, { store: { secretKeys: watched }, keyring }, on))
      },
      until: async (what: string) => {
        // What waits for the file does not keep the process.
        const keep = setInterval(() => undefined, 1000)
        while (!told.includes(what)) await new Promise<void>((resolve) => (wake = resolve))
        clearInterval(keep)
      },
    }
  }

  it('takes the new key once the store is back, where it was away when the file changed', async (t) => {
    let isAway = true
    const { file, keyring, told, watch, until } = await following(t, () => isAway)
    watch()
    writeFileSync(file, `${added},${old}`)
    await until('failed')
    assert.equal(keyring.sealingKeyId, 'old')
    isAway = false
    await until('changed')
    assert.equal(keyring.sealingKeyId, 'added')
    assert.equal(told.at(-1), 'changed')
  })

  it('takes a key that was added between its reading the file and its watching it', async (t) => {
    const { file, keyring, watch, until } = await following(t, () => false)
    writeFileSync(file, `${added},${old}`)
    watch()
    await until('changed')
    assert.equal(keyring.sealingKeyId, 'added')
  })

  it('says nothing where nothing was changed', async (t) => {
    const { file, told, watch, until } = await following(t, () => false)
    watch()
    writeFileSync(file, `${added},${old}`)
    await until('changed')
    assert.deepEqual(told, ['changed'])
    assert.match(readFileSync(file, 'utf8'), /^added:/)
  })
})
