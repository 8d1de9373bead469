import assert from 'node:assert/strict'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { apiOf } from '../faults/acknowledged.ts'
import { runCommand } from '../support/command.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { runUgs, startService, temporaryFolder, type RunningService } from '../support/service.ts'
import { assertFault, tokenIn } from '../support/user-api.ts'

const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]

/** Returns the settings of another process on the same store, with other secret keys. */
function settingsOf({ dataFolder, databaseUrl }: RunningService, keys: string): Record<string, string> {
  return {
    UGS_DATA_DIR: dataFolder,
    UGS_SECRET_KEYS: keys,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
}

const create = (service: RunningService, id: string) =>
  apiOf(service).get({ user_group_id: id, name: 'Name' })

/** Asserts that the log has the reason and remedy, but no key. */
async function assertLogged(service: RunningService, reason: string): Promise<void> {
  await service.logged(`"code":"unavailable","reason":"${reason}`)
  for (const [, key = ''] of [one, two].map((text) => text.split(':')))
    assert.ok(!service.stderr().includes(key.slice(0, 20)))
}

describe('a process without a new secret key', () => {
  it('cannot encrypt after its key is retired, and logs the missing key', async (t) => {
    const stale = await startService(t, { UGS_SECRET_KEYS: one })
    const token = tokenIn(await create(stale, 'a'))
    const others = settingsOf(stale, `${two},${one}`)
    const other = { ...(await startService(t, others)), tokens: stale.tokens }
    const ugs = (...args: string[]) => runUgs(args, others)
    await runCommand({ ugs }, 'secret-key', 'reseal')
    await runCommand({ ugs }, 'secret-key', 'retire', 'one')

    assertFault(await create(stale, 'b'), 'unavailable')
    await assertLogged(
      stale,
      'SECRET_KEY_RETIRED: the secret key \\"one\\", with which this process encrypts, is retired; give',
    )
    assertFault(await apiOf(stale).post({ current_token: token }), 'unavailable')
    assert.equal(tokenIn(await create(other, 'a')), token)
    tokenIn(await create(other, 'b'))
    assertFault(await create(stale, 'b'), 'unavailable')
    await assertLogged(
      stale,
      'TOKEN_SEALED: the secret key \\"two\\" is missing; add that key to the end of UGS_SECRET_KEYS',
    )
    const listed = JSON.parse(await runCommand({ ugs }, 'secret-key', 'list', '--json')) as object[]
    assert.deepEqual(listed, [
      { id: 'two', state: 'seals', tokens: 2 },
      { id: 'one', state: 'opens', tokens: 0 },
    ])
  })

  it('does not prevent replacing the keys, and cannot restart with the retired key first', async (t) => {
    const stale = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    await stale.logged('"sealing_key_id":"one"')
    const rows = Array.from({ length: 1000 }, (_, i) => `{"user_group_id":"group ${i}","name":"Name"}\n`)
    const file = join(temporaryFolder(t), 'rows.ndjson')
    writeFileSync(file, rows.join(''))
    await runCommand(stale, 'import', file, '--environment', 'Testing')
    const ugs = (...args: string[]) => runUgs(args, settingsOf(stale, `${two},${one}`))

    const created = new Map<string, string>()
    let isDone = false
    const load = Array.from({ length: 4 }, async (_, client) => {
      for (let i = 0; !isDone; i++) {
        const response = await create(stale, `load ${client} ${i}`)
        if (response.status === 200) created.set(`load ${client} ${i}`, tokenIn(response))
        else assertFault(response, 'unavailable')
      }
    })
    let reseal = await ugs('secret-key', 'reseal')
    while (reseal.code === 0) reseal = await ugs('secret-key', 'reseal')
    assert.match(
      reseal.stderr,
      /^ugs: meanwhile \d+ tokens were encrypted with another key, by a process with other/m,
    )
    const early = await ugs('secret-key', 'retire', 'one')
    assert.equal(early.code, 1)
    assert.match(early.stderr, /add --stop-sealing to refuse its writes\n$/)
    const stopping = await ugs('secret-key', 'retire', 'one', '--stop-sealing')
    assert.match(
      stopping.stderr,
      /^ugs: "one" encrypts no new tokens, but \d+ user group tokens still need it: run/,
    )
    await assertLogged(stale, 'SECRET_KEY_RETIRED: the secret key \\"one\\"')
    await runCommand({ ugs }, 'secret-key', 'reseal')
    await runCommand({ ugs }, 'secret-key', 'retire', 'one')
    isDone = true
    await Promise.all(load)
    await stale.stop()

    await assert.rejects(startService(t, settingsOf(stale, `${one},${two}`)), {
      message: /UGS_SECRET_KEYS: "one" is retired and cannot encrypt; put the first key of the other/,
    })
    const started = await startService(t, settingsOf(stale, two))
    assert.ok(created.size > 0)
    for (const [id, token] of created)
      assert.equal(tokenIn(await create({ ...started, tokens: stale.tokens }, id)), token)
  })
})

describe('the file of secret keys', () => {
  it('causes a warning if others can read it', async (t) => {
    const file = join(temporaryFolder(t), 'keys')
    for (const [mode, isExposed] of [
      [0o600, false],
      [0o640, true],
      [0o604, true],
    ] as const) {
      rmSync(file, { force: true })
      writeFileSync(file, one)
      chmodSync(file, mode)
      const { stderr, logged, stop } = await startService(t, { UGS_SECRET_KEYS_FILE: file })
      await logged('the secret keys were read')
      await stop()
      assert.equal(/"file":"\S+keys","msg":".* run `chmod 600` on it/.test(stderr()), isExposed)
    }
  })
})
