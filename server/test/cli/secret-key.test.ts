import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call } from '../support/http.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { startService, temporaryFolder } from '../support/service.ts'

describe('the secret key', () => {
  const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
  const create = { user_group_id: 'a', name: 'A' }

  it('opens at the next start what it sealed', async (t) => {
    const first = await startService(t)
    const token = first.tokens.Customer
    const before = await call(first.origin, { token, body: create })
    await first.stop()
    const second = await startService(t, { UGS_DATA_DIR: first.dataFolder })
    const after = await call(second.origin, { token, body: create })
    assert.equal(after.body.user_group.token, before.body.user_group.token)
  })

  it('may be brought from outside, and then none is made', async (t) => {
    const service = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    const token = service.tokens.Customer
    const before = await call(service.origin, { token, body: create })
    assert.ok(!existsSync(join(service.dataFolder, 'secret-keys')))
    await service.stop()
    const turned = await startService(t, {
      UGS_DATA_DIR: service.dataFolder,
      UGS_SECRET_KEYS: `${two},${one}`,
    })
    const after = await call(turned.origin, { token, body: create })
    assert.equal(after.body.user_group.token, before.body.user_group.token)
  })

  it('may be taken away again where it never sealed', async (t) => {
    const first = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    await first.stop()
    const second = await startService(t, { UGS_DATA_DIR: first.dataFolder, UGS_SECRET_KEYS: one })
    assert.equal(await second.stop(), 0)
  })

  it('is missed at the start, by name, and never silently made anew', async (t) => {
    const first = await startService(t)
    await first.stop()
    rmSync(join(first.dataFolder, 'secret-keys'))
    const again = (settings = {}) => startService(t, { UGS_DATA_DIR: first.dataFolder, ...settings })
    await assert.rejects(again(), {
      message:
        /^the service ended with 1: .*secret-keys: is missing, and the store holds tokens sealed with it/s,
    })
    assert.ok(!existsSync(join(first.dataFolder, 'secret-keys')))
    await assert.rejects(again({ UGS_SECRET_KEYS: secretKeyText('other', 1) }), {
      message: /^the service ended with 1: .*"k1" is missing, which this store's tokens are sealed with/s,
    })
    const wrong = secretKeyText('k1', 1)
    await assert.rejects(again({ UGS_SECRET_KEYS: wrong }), ({ message }: Error) => {
      assert.match(message, /^the service ended with 1: /)
      assert.match(message, /the key "k1" is not the one that this store was sealed with/)
      assert.ok(!message.includes(wrong.slice(3, 13)))
      return true
    })
  })

  it('is refused where its file is damaged', async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'secret-keys'), 'k1:AAAA')
    await assert.rejects(startService(t, { UGS_DATA_DIR: folder }), {
      message: /^the service ended with 1: .*secret-keys: the key of entry 1 must be 32 bytes in base64/s,
    })
  })
})
