import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { apiOf } from '../faults/acknowledged.ts'
import { runCommand } from '../support/command.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { runUgs, startService, temporaryFolder, type RunningService } from '../support/service.ts'
import { assertFault, tokenIn } from '../support/user-api.ts'

const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]

/** Settings of another process on the store of a service, with secret keys of its own. */
function besides({ dataFolder, databaseUrl }: RunningService, keys: string): Record<string, string> {
  return {
    UGS_DATA_DIR: dataFolder,
    UGS_SECRET_KEYS: keys,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
}

const create = (service: RunningService, id: string) =>
  apiOf(service).get({ user_group_id: id, name: 'Name' })

/** The log names the cure, and holds no key. */
async function assertLogged(service: RunningService, reason: string): Promise<void> {
  await service.logged(`"code":"unavailable","reason":"${reason}`)
  for (const [, key = ''] of [one, two].map((text) => text.split(':')))
    assert.ok(!service.stderr().includes(key.slice(0, 20)))
}

describe('a process that did not hear of a new secret key', () => {
  it('can seal nothing more once its key is retired, and says what it lacks', async (t) => {
    const stale = await startService(t, { UGS_SECRET_KEYS: one })
    const token = tokenIn(await create(stale, 'a'))
    const others = besides(stale, `${two},${one}`)
    const other = { ...(await startService(t, others)), tokens: stale.tokens }
    const ugs = (...args: string[]) => runUgs(args, others)
    await runCommand({ ugs }, 'secret-key', 'reseal')
    await runCommand({ ugs }, 'secret-key', 'retire', 'one')

    assertFault(await create(stale, 'b'), 'unavailable')
    await assertLogged(
      stale,
      'SECRET_KEY_RETIRED: the secret key \\"one\\", which this process seals with, is retired; give',
    )
    assertFault(await apiOf(stale).post({ current_token: token }), 'unavailable')
    assert.equal(tokenIn(await create(other, 'a')), token)
    tokenIn(await create(other, 'b'))
    assertFault(await create(stale, 'b'), 'unavailable')
    await assertLogged(
      stale,
      'TOKEN_SEALED: the secret key \\"two\\" is missing; put that key last into UGS_SECRET_KEYS',
    )
    const listed = JSON.parse(await runCommand({ ugs }, 'secret-key', 'list', '--json')) as object[]
    assert.deepEqual(listed, [
      { id: 'two', state: 'seals', tokens: 2 },
      { id: 'one', state: 'opens', tokens: 0 },
    ])
  })

  it('neither keeps the keys from being replaced, nor starts again with the retired one first', async (t) => {
    const stale = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    await stale.logged('"sealing_key_id":"one"')
    const rows = Array.from({ length: 1000 }, (_, i) => `{"user_group_id":"group ${i}","name":"Name"}\n`)
    const file = join(temporaryFolder(t), 'rows.ndjson')
    writeFileSync(file, rows.join(''))
    await runCommand(stale, 'import', file, '--environment', 'Testing')
    const ugs = (...args: string[]) => runUgs(args, besides(stale, `${two},${one}`))

    const made = new Map<string, string>()
    let isOver = false
    const calling = Array.from({ length: 4 }, async (_, caller) => {
      for (let i = 0; !isOver; i++) {
        const response = await create(stale, `called ${caller} ${i}`)
        if (response.status === 200) made.set(`called ${caller} ${i}`, tokenIn(response))
        else assertFault(response, 'unavailable')
      }
    })
    let reencrypt = await ugs('secret-key', 'reseal')
    while (reencrypt.code === 0) reencrypt = await ugs('secret-key', 'reseal')
    assert.match(
      reencrypt.stderr,
      /^ugs: meanwhile \d+ tokens were sealed with another key: a process has other/m,
    )
    const early = await ugs('secret-key', 'retire', 'one')
    assert.equal(early.code, 1)
    assert.match(early.stderr, /with --stop-sealing, what it seals is refused\n$/)
    const stopping = await ugs('secret-key', 'retire', 'one', '--stop-sealing')
    assert.match(
      stopping.stderr,
      /^ugs: nothing more is sealed with "one", and \d+ user group tokens are: run/,
    )
    await assertLogged(stale, 'SECRET_KEY_RETIRED: the secret key \\"one\\"')
    await runCommand({ ugs }, 'secret-key', 'reseal')
    await runCommand({ ugs }, 'secret-key', 'retire', 'one')
    isOver = true
    await Promise.all(calling)
    await stale.stop()

    await assert.rejects(startService(t, besides(stale, `${one},${two}`)), {
      message: /UGS_SECRET_KEYS: "one" is retired, and seals nothing more; put the key first that the other/,
    })
    const started = await startService(t, besides(stale, two))
    assert.ok(made.size > 0)
    for (const [id, token] of made)
      assert.equal(tokenIn(await create({ ...started, tokens: stale.tokens }, id)), token)
  })
})

describe('the file of secret keys', () => {
  it('is remarked on where others than its owner may read it', async (t) => {
    const file = join(temporaryFolder(t), 'keys')
    for (const [mode, isExposed] of [
      [0o600, false],
      [0o640, true],
      [0o604, true],
    ] as const) {
      rmSync(file, { force: true })
      writeFileSync(file, one, { mode })
      const { stderr, logged, stop } = await startService(t, { UGS_SECRET_KEYS_FILE: file })
      await logged('the secret keys were read')
      await stop()
      assert.equal(/"file":"\S+keys","msg":".* run `chmod 600` on it"/.test(stderr()), isExposed)
    }
  })
})
