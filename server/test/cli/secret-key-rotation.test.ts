import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { letSettle, secretKeyText } from '../support/secret-key.ts'
import { runUgs, startService, temporaryFolder, ugsFile, type RunningService } from '../support/service.ts'

interface ListedKey {
  readonly id: string
  readonly state: string
  readonly tokens: number
}

const idsOf = (text: string) =>
  text
    .trim()
    .split(',')
    .map((entry) => entry.split(':')[0])
const keyFile = ({ dataFolder }: RunningService) => join(dataFolder, 'secret-keys')
const listed = async (service: Pick<RunningService, 'ugs'>) =>
  JSON.parse(await runCommand(service, 'secret-key', 'list', '--json')) as ListedKey[]

async function tokenOf({ origin, tokens }: RunningService, id: string): Promise<string> {
  const response = await sendRequest(origin, {
    token: tokens.Testing,
    body: { user_group_id: id, name: 'Name' },
  })
  assert.equal(response.status, 200, response.text)
  return response.body.user_group.token
}

/** Returns the settings for `ugs` on the store of a service, and additional settings. */
function settingsOf({ dataFolder, databaseUrl }: RunningService, additional: Record<string, string> = {}) {
  return { UGS_DATA_DIR: dataFolder, ...(databaseUrl && { DATABASE_URL: databaseUrl }), ...additional }
}

/** Sends requests until `stop`, with pauses that leave CPU time for commands. All requests must succeed, and no token may change. */
function keepRequesting(service: RunningService): { stop: () => Promise<number> } {
  const known = new Map<string, string>()
  let stopped = false
  let requests = 0
  const send = async (client: number) => {
    for (let i = 0; !stopped; i++) {
      const id = i % 2 === 0 ? `load ${client} ${i}` : `load ${client} ${i - 1}`
      const token = await tokenOf(service, id)
      assert.equal(known.get(id) ?? token, token)
      known.set(id, token)
      requests++
      await sleep(20)
    }
  }
  const running = Promise.all([0, 1, 2, 3].map(send))
  return {
    stop: async () => {
      stopped = true
      await running
      for (const [id, token] of known) assert.equal(await tokenOf(service, id), token)
      return requests
    },
  }
}

async function withUserGroups(t: TestContext, count: number): Promise<RunningService> {
  const service = await startService(t)
  const rows = Array.from({ length: count }, (_, i) => `{"user_group_id":"group ${i}","name":"Name"}\n`)
  const file = join(temporaryFolder(t), 'rows.ndjson')
  writeFileSync(file, rows.join(''))
  await runCommand(service, 'import', file, '--environment', 'Testing')
  return service
}

describe('replacing the secret key of a running service', () => {
  it('fails no request and changes no token', async (t) => {
    const service = await withUserGroups(t, 700)
    const before = await tokenOf(service, 'group 0')
    const load = keepRequesting(service)
    const { mode } = statSync(keyFile(service))

    const { id } = JSON.parse(await runCommand(service, 'secret-key', 'add', '--json')) as { id: string }
    assert.deepEqual(idsOf(readFileSync(keyFile(service), 'utf8')), [id, 'k1'])
    assert.equal(statSync(keyFile(service)).mode, mode)
    await service.logged('the secret keys were read again')
    await tokenOf(service, 'encrypted with the new key')
    const added = await listed(service)
    assert.deepEqual(
      added.map(({ id, state }) => [id, state]),
      [
        [id, 'seals'],
        ['k1', 'opens'],
      ],
    )
    assert.ok(added.every(({ tokens }) => tokens > 0))

    const early = await service.ugs('secret-key', 'retire', 'k1')
    assert.equal(early.code, 1)
    assert.match(
      early.stderr,
      /^ugs: \d+ user group tokens are encrypted with "k1": run `ugs secret-key reseal`/,
    )

    assert.match((await service.ugs('secret-key', 'reseal')).stderr, /^Encrypted \d{3,} tokens with "/m)
    assert.deepEqual((await listed(service))[1], { id: 'k1', state: 'opens', tokens: 0 })
    const nothing = JSON.parse(await runCommand(service, 'secret-key', 'reseal', '--json')) as object
    assert.deepEqual(nothing, { id, resealed: 0, unopened: [] })

    await runCommand(service, 'secret-key', 'retire', 'k1')
    assert.deepEqual(idsOf(readFileSync(keyFile(service), 'utf8')), [id])
    assert.deepEqual(
      (await listed(service)).map((key) => [key.id, key.state]),
      [[id, 'seals']],
    )
    assert.ok((await load.stop()) > 10)

    await service.stop()
    const next = await startService(t, settingsOf(service))
    assert.equal(await tokenOf({ ...next, tokens: service.tokens }, 'group 0'), before)
  })

  it('allows retiring the old key as soon as every service uses the new key', async (t) => {
    const service = await withUserGroups(t, 50)
    const load = keepRequesting(service)
    await runCommand(service, 'secret-key', 'add', '--id', 'new')
    const { mtimeMs } = statSync(keyFile(service))
    while ((await service.ugs('secret-key', 'retire', 'k1')).code !== 0) {
      await runCommand(service, 'secret-key', 'reseal')
      await sleep(100)
    }
    // After this time, every service has read the file again and stored the tokens encrypted before.
    assert.ok(Date.now() - mtimeMs >= 5000)
    await load.stop()
    assert.ok((await listed(service)).every(({ state }) => state !== 'missing'))
    await service.stop()
    const next = await startService(t, settingsOf(service))
    for (const id of ['group 0', 'group 49', 'load 0 0', 'load 3 0'])
      await tokenOf({ ...next, tokens: service.tokens }, id)
  })

  it('continues after the re-encryption was killed', async (t) => {
    const service = await withUserGroups(t, 2500)
    const before = await tokenOf(service, 'group 2499')
    await runCommand(service, 'secret-key', 'add', '--id', 'new')
    letSettle(keyFile(service))
    const child = spawn(process.execPath, [ugsFile, 'secret-key', 'reseal'], {
      env: { PATH: process.env.PATH, ...settingsOf(service) },
    })
    const ended = once(child, 'exit')
    for await (const line of createInterface(child.stderr)) if (line.startsWith('re-encrypting: ')) break
    child.kill('SIGKILL')
    await ended
    const [sealing, opening] = await listed(service)
    assert.ok(Number(sealing?.tokens) > 0)
    assert.equal(Number(sealing?.tokens) + Number(opening?.tokens), 2500)
    await runCommand(service, 'secret-key', 'reseal')
    assert.deepEqual(await listed(service), [
      { id: 'new', state: 'seals', tokens: 2500 },
      { id: 'k1', state: 'opens', tokens: 0 },
    ])
    assert.equal(await tokenOf(service, 'group 2499'), before)
  })

  it('keeps the previous keys if the file becomes invalid', async (t) => {
    const service = await startService(t)
    const before = await tokenOf(service, 'a')
    const file = keyFile(service)
    const own = readFileSync(file, 'utf8')
    const write = (text: string) => {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    }
    const rubbish = secretKeyText('other', 1)
    write(`${rubbish}\n`)
    await service.logged('"k1\\" is missing, but encrypts tokens of this store')
    write('nonsense')
    await service.logged('entry 1 must have the form id:base64')
    assert.equal(await tokenOf(service, 'a'), before)
    await tokenOf(service, 'b')
    write(`${rubbish},${own}`)
    await service.logged('the secret keys were read again')
    assert.equal(await tokenOf(service, 'a'), before)
    assert.ok(![own.slice(3, 20), rubbish.slice(6, 20)].some((key) => service.stderr().includes(key)))
  })
})

describe('ugs secret-key', () => {
  it('retire refuses the first key and unknown keys', async (t) => {
    const service = await startService(t)
    const sealing = await service.ugs('secret-key', 'retire', 'k1')
    assert.deepEqual(
      [sealing.code, sealing.stderr],
      [1, 'ugs: "k1" is the first key, which encrypts; put another key first with `ugs secret-key add`\n'],
    )
    const unknown = await service.ugs('secret-key', 'retire', 'k2')
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [1, 'ugs: there is no secret key "k2"; see `ugs secret-key list`\n'],
    )
    const invalid = await service.ugs('secret-key', 'retire', 'not an id')
    assert.equal(invalid.code, 2)
  })

  it('add refuses a taken id, and generates unique ids', async (t) => {
    const service = await startService(t)
    const taken = await service.ugs('secret-key', 'add', '--id', 'k1')
    assert.equal(taken.code, 2)
    assert.match(taken.stderr, /the id "k1" belongs to a current or retired secret key/)
    await runCommand(service, 'secret-key', 'add')
    await runCommand(service, 'secret-key', 'add')
    const ids = idsOf(readFileSync(keyFile(service), 'utf8'))
    assert.equal(new Set(ids).size, 3)
    assert.match(String(ids[0]), /^\d{4}-\d{2}-\d{2}/)
  })

  it('add --print prints a new key and changes nothing', async (t) => {
    const folder = join(temporaryFolder(t), 'data')
    const settings = { UGS_DATA_DIR: folder, UGS_SECRET_KEYS: `k1:${'A'.repeat(43)}=` }
    const { code, stdout } = await runUgs(['secret-key', 'add', '--print', '--id', 'new'], settings)
    assert.equal(code, 0)
    assert.match(stdout, /^new:[\w+/]{43}=\n$/)
    const other = await runUgs(['secret-key', 'add', '--print', '--id', 'new', '--json'], settings)
    const { secret_key } = JSON.parse(other.stdout) as { secret_key: string }
    assert.notEqual(secret_key, stdout.trim())
    assert.throws(() => statSync(folder), { code: 'ENOENT' })
    const service = await startService(t, { UGS_SECRET_KEYS: secret_key })
    await tokenOf(service, 'a')
  })

  it('changes no keys of UGS_SECRET_KEYS', async (t) => {
    const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
    const first = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    const token = await tokenOf(first, 'a')
    const add = await first.ugs('secret-key', 'add')
    assert.equal(add.code, 1)
    assert.match(
      add.stderr,
      /^ugs: the keys are in UGS_SECRET_KEYS, which this command cannot change; add --print/,
    )
    const swapped = settingsOf(first, { UGS_SECRET_KEYS: `${two},${one}` })
    const ugs = (...args: string[]) => runUgs(args, swapped)
    await first.stop()
    const second = await startService(t, swapped)
    assert.equal(await tokenOf({ ...second, tokens: first.tokens }, 'a'), token)
    await runCommand({ ugs }, 'secret-key', 'reseal')
    const { stderr } = await ugs('secret-key', 'retire', 'one')
    assert.equal(stderr, 'Retired "one". Remove it from UGS_SECRET_KEYS now.\n')
    await second.stop()
    const third = await startService(t, settingsOf(first, { UGS_SECRET_KEYS: two }))
    assert.equal(await tokenOf({ ...third, tokens: first.tokens }, 'a'), token)
  })

  it('list shows a missing key with its number of tokens', async (t) => {
    const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
    const service = await startService(t, { UGS_SECRET_KEYS: one })
    await tokenOf(service, 'a')
    await service.stop()
    const ugs = (...args: string[]) => runUgs(args, settingsOf(service, { UGS_SECRET_KEYS: two }))
    assert.deepEqual(await listed({ ugs }), [
      { id: 'two', state: 'seals', tokens: 0 },
      { id: 'one', state: 'missing', tokens: 1 },
    ])
    for (const command of [['reseal'], ['add']]) {
      const { code, stderr } = await ugs('secret-key', ...command)
      assert.equal(code, 1)
      assert.match(stderr, /"one" is missing, but encrypts tokens of this store/)
    }
    assert.match(
      (await ugs('secret-key', 'retire', 'one')).stderr,
      /^ugs: 1 user group tokens are encrypted with "one"/,
    )
  })

  it('refuses concurrent changes of the file', async (t) => {
    const service = await startService(t)
    const own = readFileSync(keyFile(service), 'utf8')
    const lock = `${keyFile(service)}.lock`
    writeFileSync(lock, '')
    const { code, stderr } = await service.ugs('secret-key', 'add')
    assert.equal(code, 1)
    assert.ok(stderr.startsWith(`ugs: ${lock} exists: another command is changing the keys`), stderr)
    assert.equal(readFileSync(keyFile(service), 'utf8'), own)
    rmSync(lock)
    await Promise.all(
      [1, 2, 3, 4].map((n) => service.ugsInOwnProcess('secret-key', 'add', '--id', `at-once-${n}`)),
    )
    const ids = idsOf(readFileSync(keyFile(service), 'utf8'))
    assert.deepEqual([new Set(ids).size, ids.at(-1)], [ids.length, 'k1'])
    assert.ok(ids.length > 1)
  })
})

describe('UGS_SECRET_KEYS_FILE', () => {
  it('provides the keys, and changes apply without a restart', async (t) => {
    const file = join(temporaryFolder(t), 'keys')
    const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
    writeFileSync(file, `${one}\n`)
    chmodSync(file, 0o640)
    const service = await startService(t, { UGS_SECRET_KEYS_FILE: file })
    await tokenOf(service, 'a')
    assert.throws(() => statSync(keyFile(service)), { code: 'ENOENT' })
    writeFileSync(file, `${two},${one}\n`)
    await service.logged('"sealing_key_id":"two"')
    await tokenOf(service, 'b')
    await runCommand(service, 'secret-key', 'add', '--id', 'three')
    assert.deepEqual(idsOf(readFileSync(file, 'utf8')), ['three', 'two', 'one'])
    assert.equal(statSync(file).mode & 0o777, 0o640)
  })

  it('is refused if the file is missing or UGS_SECRET_KEYS is also set', async (t) => {
    const file = join(temporaryFolder(t), 'keys')
    await assert.rejects(startService(t, { UGS_SECRET_KEYS_FILE: file }), {
      message: /keys: the file of UGS_SECRET_KEYS_FILE is missing; create it/,
    })
    assert.throws(() => statSync(file), { code: 'ENOENT' })
    const both = { UGS_SECRET_KEYS_FILE: file, UGS_SECRET_KEYS: secretKeyText('one', 1) }
    await assert.rejects(startService(t, both), {
      message: /UGS_SECRET_KEYS_FILE: UGS_SECRET_KEYS is also set; remove one of them/,
    })
  })
})
