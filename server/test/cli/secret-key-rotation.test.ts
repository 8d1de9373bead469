import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { runCommand } from '../support/command.ts'
import { call } from '../support/http.ts'
import { secretKeyText } from '../support/secret-key.ts'
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
  const response = await call(origin, { token: tokens.Testing, body: { user_group_id: id, name: 'Name' } })
  assert.equal(response.status, 200, response.text)
  return response.body.user_group.token
}

/** What `ugs` needs to work on the store of a service, and what else it is given. */
function settingsOf({ dataFolder, databaseUrl }: RunningService, others: Record<string, string> = {}) {
  return { UGS_DATA_DIR: dataFolder, ...(databaseUrl && { DATABASE_URL: databaseUrl }), ...others }
}

/** Calls without a pause until it is told to stop; every one must be answered, and no token may change. */
function keepCalling(service: RunningService): { stop: () => Promise<number> } {
  const known = new Map<string, string>()
  let stopped = false
  let calls = 0
  const one = async (caller: number) => {
    for (let i = 0; !stopped; i++) {
      const id = i % 2 === 0 ? `called ${caller} ${i}` : `called ${caller} ${i - 1}`
      const token = await tokenOf(service, id)
      assert.equal(known.get(id) ?? token, token)
      known.set(id, token)
      calls++
    }
  }
  const running = Promise.all([0, 1, 2, 3].map(one))
  return {
    stop: async () => {
      stopped = true
      await running
      for (const [id, token] of known) assert.equal(await tokenOf(service, id), token)
      return calls
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

describe('a secret key is replaced beside a running service', () => {
  it('without a call that fails, and without a token that changes', async (t) => {
    const service = await withUserGroups(t, 700)
    const before = await tokenOf(service, 'group 0')
    const calling = keepCalling(service)
    const { mode } = statSync(keyFile(service))

    const { id } = JSON.parse(await runCommand(service, 'secret-key', 'add', '--json')) as { id: string }
    assert.deepEqual(idsOf(readFileSync(keyFile(service), 'utf8')), [id, 'k1'])
    assert.equal(statSync(keyFile(service)).mode, mode)
    await service.logged('the secret keys were read again')
    await tokenOf(service, 'sealed with the new key')
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
      /^ugs: \d+ user group tokens are sealed with "k1": run `ugs secret-key reseal`/,
    )

    assert.match((await service.ugs('secret-key', 'reseal')).stderr, /^Sealed \d{3,} tokens anew, with "/m)
    assert.deepEqual((await listed(service))[1], { id: 'k1', state: 'opens', tokens: 0 })
    const nothing = JSON.parse(await runCommand(service, 'secret-key', 'reseal', '--json')) as object
    assert.deepEqual(nothing, { id, reencrypted: 0, undecryptable: [] })

    await runCommand(service, 'secret-key', 'retire', 'k1')
    assert.deepEqual(idsOf(readFileSync(keyFile(service), 'utf8')), [id])
    assert.deepEqual(
      (await listed(service)).map((key) => [key.id, key.state]),
      [[id, 'seals']],
    )
    assert.ok((await calling.stop()) > 10)

    await service.stop()
    const next = await startService(t, settingsOf(service))
    assert.equal(await tokenOf({ ...next, tokens: service.tokens }, 'group 0'), before)
  })

  it('and retired right after it, when nobody has said that the new one is in use', async (t) => {
    const service = await withUserGroups(t, 50)
    const calling = keepCalling(service)
    await runCommand(service, 'secret-key', 'add', '--id', 'new')
    const { mtimeMs } = statSync(keyFile(service))
    while ((await service.ugs('secret-key', 'retire', 'k1')).code !== 0)
      await runCommand(service, 'secret-key', 'reseal')
    // By then every service has read the file again, and what it had sealed before is in the store.
    assert.ok(Date.now() - mtimeMs >= 5000)
    await calling.stop()
    assert.ok((await listed(service)).every(({ state }) => state !== 'missing'))
    await service.stop()
    const next = await startService(t, settingsOf(service))
    for (const id of ['group 0', 'group 49', 'called 0 0', 'called 3 0'])
      await tokenOf({ ...next, tokens: service.tokens }, id)
  })

  it('and sealing anew goes on where it was killed', async (t) => {
    const service = await withUserGroups(t, 2500)
    const before = await tokenOf(service, 'group 2499')
    await runCommand(service, 'secret-key', 'add', '--id', 'new')
    const child = spawn(process.execPath, [ugsFile, 'secret-key', 'reseal'], {
      env: { PATH: process.env.PATH, ...settingsOf(service) },
    })
    const ended = once(child, 'exit')
    for await (const line of createInterface(child.stderr)) if (line.startsWith('re-sealing: ')) break
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

  it('which keeps its keys where the file can no longer be used', async (t) => {
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
    await service.logged('"k1\\" is missing, which this store')
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
  it('retires neither the key that seals nor one that there is not', async (t) => {
    const service = await startService(t)
    const sealing = await service.ugs('secret-key', 'retire', 'k1')
    assert.deepEqual(
      [sealing.code, sealing.stderr],
      [1, 'ugs: "k1" seals; put another first, as `ugs secret-key add` does\n'],
    )
    const unknown = await service.ugs('secret-key', 'retire', 'k2')
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [1, 'ugs: there is no secret key "k2"; `ugs secret-key list` shows those there are\n'],
    )
    const badly = await service.ugs('secret-key', 'retire', 'not an id')
    assert.equal(badly.code, 2)
  })

  it('takes no id twice, and makes one of its own', async (t) => {
    const service = await startService(t)
    const taken = await service.ugs('secret-key', 'add', '--id', 'k1')
    assert.equal(taken.code, 2)
    assert.match(taken.stderr, /there is a secret key "k1" already/)
    await runCommand(service, 'secret-key', 'add')
    await runCommand(service, 'secret-key', 'add')
    const ids = idsOf(readFileSync(keyFile(service), 'utf8'))
    assert.equal(new Set(ids).size, 3)
    assert.match(String(ids[0]), /^\d{4}-\d{2}-\d{2}/)
  })

  it('shows a new key with --print, and changes nothing', async (t) => {
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

  it('leaves the keys of UGS_SECRET_KEYS to whoever set them', async (t) => {
    const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
    const first = await startService(t, { UGS_SECRET_KEYS: `${one},${two}` })
    const token = await tokenOf(first, 'a')
    const add = await first.ugs('secret-key', 'add')
    assert.equal(add.code, 1)
    assert.match(
      add.stderr,
      /^ugs: UGS_SECRET_KEYS holds the keys, which a command cannot change; with --print/,
    )
    const turned = settingsOf(first, { UGS_SECRET_KEYS: `${two},${one}` })
    const ugs = (...args: string[]) => runUgs(args, turned)
    await first.stop()
    const second = await startService(t, turned)
    assert.equal(await tokenOf({ ...second, tokens: first.tokens }, 'a'), token)
    await runCommand({ ugs }, 'secret-key', 'reseal')
    const { stderr } = await ugs('secret-key', 'retire', 'one')
    assert.equal(stderr, '"one" is retired: take it out of UGS_SECRET_KEYS now.\n')
    await second.stop()
    const third = await startService(t, settingsOf(first, { UGS_SECRET_KEYS: two }))
    assert.equal(await tokenOf({ ...third, tokens: first.tokens }, 'a'), token)
  })

  it('names a key that is missing, with how much is sealed with it', async (t) => {
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
      assert.match(stderr, /"one" is missing, which this store's tokens are sealed with/)
    }
    assert.match(
      (await ugs('secret-key', 'retire', 'one')).stderr,
      /^ugs: 1 user group tokens are sealed with "one"/,
    )
  })

  it('changes no file that another command changes', async (t) => {
    const service = await startService(t)
    const own = readFileSync(keyFile(service), 'utf8')
    const lock = `${keyFile(service)}.lock`
    writeFileSync(lock, '')
    const { code, stderr } = await service.ugs('secret-key', 'add')
    assert.equal(code, 1)
    assert.ok(stderr.startsWith(`ugs: ${lock} is there: another command changes the keys`), stderr)
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
  it('brings the keys, and what changes in it is in force without a restart', async (t) => {
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

  it('is refused where it is missing, or there are two sources', async (t) => {
    const file = join(temporaryFolder(t), 'keys')
    await assert.rejects(startService(t, { UGS_SECRET_KEYS_FILE: file }), {
      message: /keys: is missing, and UGS_SECRET_KEYS_FILE names it; put it there/,
    })
    assert.throws(() => statSync(file), { code: 'ENOENT' })
    const both = { UGS_SECRET_KEYS_FILE: file, UGS_SECRET_KEYS: secretKeyText('one', 1) }
    await assert.rejects(startService(t, both), {
      message: /UGS_SECRET_KEYS_FILE: UGS_SECRET_KEYS is set too; leave one of them out/,
    })
  })
})
