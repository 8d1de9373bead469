import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sendRequest } from '../support/http.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { startService, temporaryFolder } from '../support/service.ts'

describe('the secret key', () => {
  const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
  const create = { user_group_id: 'a', name: 'A' }

  it('decrypts existing tokens after a restart', async (t) => {
    const first = await startService(t)
    const token = first.tokens.Customer
    const before = await sendRequest(first.origin, { token, body: create })
    await first.stop()
    const second = await startService(t, { UGS_DATA_DIR: first.dataFolder })
    const after = await sendRequest(second.origin, { token, body: create })
    assert.equal(after.body.user_group.token, before.body.user_group.token)
  })

  it('can come from UGS_SECRET_KEYS, and then no file is created', async (t) => {
    const service = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    const token = service.tokens.Customer
    const before = await sendRequest(service.origin, { token, body: create })
    assert.ok(!existsSync(join(service.dataFolder, 'secret-keys')))
    await service.stop()
    const swapped = await startService(t, {
      UGS_DATA_DIR: service.dataFolder,
      UGS_SECRET_KEYS: `${two},${one}`,
    })
    const after = await sendRequest(swapped.origin, { token, body: create })
    assert.equal(after.body.user_group.token, before.body.user_group.token)
  })

  it('can be removed if it never encrypted', async (t) => {
    const first = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    await first.stop()
    const second = await startService(t, { UGS_DATA_DIR: first.dataFolder, UGS_SECRET_KEYS: one })
    assert.equal(await second.stop(), 0)
  })

  it('is required at the start, named in the error and never silently replaced', async (t) => {
    const first = await startService(t)
    await first.stop()
    rmSync(join(first.dataFolder, 'secret-keys'))
    const again = (settings = {}) => startService(t, { UGS_DATA_DIR: first.dataFolder, ...settings })
    await assert.rejects(again(), {
      message:
        /^the service ended with 1: .*secret-keys: is missing, but the store has tokens encrypted with its keys/s,
    })
    assert.ok(!existsSync(join(first.dataFolder, 'secret-keys')))
    await assert.rejects(again({ UGS_SECRET_KEYS: secretKeyText('other', 1) }), {
      message: /^the service ended with 1: .*"k1" is missing, but encrypts tokens of this store/s,
    })
    const wrong = secretKeyText('k1', 1)
    await assert.rejects(again({ UGS_SECRET_KEYS: wrong }), ({ message }: Error) => {
      assert.match(message, /^the service ended with 1: /)
      assert.match(message, /the key "k1" is not the key with which this store is encrypted/)
      assert.ok(!message.includes(wrong.slice(3, 13)))
      return true
    })
  })

  it('is refused if its file is damaged', async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'secret-keys'), 'k1:AAAA')
    await assert.rejects(startService(t, { UGS_DATA_DIR: folder }), {
      message: /^the service ended with 1: .*secret-keys: the key of entry 1 must be 32 bytes in base64/s,
    })
  })
})
