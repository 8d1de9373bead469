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

/** Adds keys repeatedly in a thread, and returns the ids of the added keys. */
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

describe('the secret key file', () => {
  it('loses no key under concurrent additions', async (t) => {
    const file = fileIn(t)
    createSecretKeyFile(file)
    const added = (await Promise.all(['a', 'b', 'c', 'd'].map((name) => addInThread(file, name)))).flat()
    assert.ok(added.length > 0)
    assert.deepEqual(new Set(idsOf(readSecretKeyFile(file))), new Set(['k1', ...added]))
    assert.deepEqual(readdirSync(join(file, '..')), [basename(file)])
  })

  it('is changed behind a symbolic link', (t) => {
    const [file, link] = [fileIn(t), fileIn(t)]
    createSecretKeyFile(file)
    symlinkSync(file, link)
    changeSecretKeyFile(link, (keys) => [...keys, { id: 'k2', key: Buffer.alloc(32, 'k2') }])
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.deepEqual(idsOf(readSecretKeyFile(file)), ['k1', 'k2'])
  })

  it('is created behind a symbolic link', (t) => {
    const [file, link] = [fileIn(t), fileIn(t)]
    symlinkSync(file, link)
    assert.deepEqual(idsOf(createSecretKeyFile(link)), ['k1'])
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.deepEqual(idsOf(readSecretKeyFile(file)), ['k1'])
  })

  it('stays unchanged after a failed change, and can be changed again', (t) => {
    const file = fileIn(t)
    const before = createSecretKeyFile(file)
    const fail = () => changeSecretKeyFile(file, () => assert.fail('change failed'))
    assert.throws(fail, /change failed/)
    assert.deepEqual(readSecretKeyFile(file), before)
    assert.throws(fail, /change failed/)
  })
})

describe('watching the secret key file', () => {
  const [old, added] = [secretKeyText('old', 1), secretKeyText('added', 2)]

  async function setUp(t: TestContext, isUnavailable: () => boolean) {
    const file = fileIn(t)
    writeFileSync(file, old)
    const keyring = new Keyring(readSecretKeyFile(file) as SecretKey[])
    const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder(t), 'ugs.db') }, defaults)
    t.after(() => store.close())
    const events: string[] = []
    let wake: () => void = () => undefined
    const record = (event: string) => () => {
      events.push(event)
      wake()
    }
    const secretKeys = {
      ...store.secretKeys,
      listChecks: () => {
        if (isUnavailable()) throw new Fault('unavailable', 'The store is unavailable')
        return store.secretKeys.listChecks()
      },
    }
    const config = { UGS_SECRET_KEYS: undefined, UGS_SECRET_KEYS_FILE: file, secretKeyFile: file }
    return {
      file,
      keyring,
      events,
      watch: () => {
        const listeners = { onChange: record('changed'), onFailure: record('failed') }
        t.after(watchSecretKeys(config, { store: { secretKeys }, keyring }, listeners))
      },
      until: async (event: string) => {
        // The watch does not keep the process alive.
        const keep = setInterval(() => undefined, 1000)
        while (!events.includes(event)) await new Promise<void>((resolve) => (wake = resolve))
        clearInterval(keep)
      },
    }
  }

  it('loads a new key as soon as an unavailable store is back', async (t) => {
    let isUnavailable = true
    const { file, keyring, events, watch, until } = await setUp(t, () => isUnavailable)
    watch()
    writeFileSync(file, `${added},${old}`)
    await until('failed')
    assert.equal(keyring.sealingKeyId, 'old')
    isUnavailable = false
    await until('changed')
    assert.equal(keyring.sealingKeyId, 'added')
    assert.equal(events.at(-1), 'changed')
  })

  it('loads a key that was added between reading the file and watching it', async (t) => {
    const { file, keyring, watch, until } = await setUp(t, () => false)
    writeFileSync(file, `${added},${old}`)
    watch()
    await until('changed')
    assert.equal(keyring.sealingKeyId, 'added')
  })

  it('reports each change once', async (t) => {
    const { file, events, watch, until } = await setUp(t, () => false)
    watch()
    writeFileSync(file, `${added},${old}`)
    await until('changed')
    assert.deepEqual(events, ['changed'])
    assert.match(readFileSync(file, 'utf8'), /^added:/)
  })
})
