import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runUgs, runUgsInNewProcess, startService, temporaryFolder } from '../support/service.ts'
import { userApi } from '../support/user-api.ts'
import { until } from '../support/workers.ts'

const changed = '"msg":"the log settings have changed"'

describe('ugs log-level', () => {
  it('changes the level and the access log of all running workers, until it is set back', async (t) => {
    const service = await startService(t, { LOG_LEVEL: 'error' }, ['--workers', '2'])
    const api = userApi(service.origin, service.tokens.Testing)
    const linesWith = (text: string) => service.stderr().split(text).length - 1
    const run = async (...args: string[]) => (await service.ugs('log-level', ...args)).stdout

    await api.get({ user_group_id: 'a', name: 'A' })
    assert.equal(await run('debug', '--access-log', 'full'), 'LOG_LEVEL=debug UGS_ACCESS_LOG=1\n')
    await until(() => linesWith(changed) === 2)
    assert.match(service.stderr(), /"log_level":"debug","access_log":1,"msg":"the log settings have changed"/)
    const { headers } = await api.get({ user_group_id: 'a' })
    await service.logged(`"request_id":"${headers['x-request-id']}"`)
    assert.equal(linesWith('"msg":"request"'), 1)

    assert.equal(await run('fatal'), 'LOG_LEVEL=fatal UGS_ACCESS_LOG=1\n')
    await until(() => linesWith(changed) === 4)
    assert.equal(await run('default'), 'LOG_LEVEL=error UGS_ACCESS_LOG=off\n')
    await until(() => linesWith(changed) === 6)
    await api.get({ user_group_id: 'a' })

    // Invalid settings are reported and change nothing.
    writeFileSync(join(service.dataFolder, 'log-settings'), 'LOG_LEVEL=info\nUGS_ACCESS_LOG=2\n')
    await until(() => linesWith('"msg":"the log settings cannot be used') === 2)
    assert.match(service.stderr(), /"reason":"UGS_ACCESS_LOG: must be off, full, or a share between 0 and 1"/)
    assert.equal(await service.stop(), 0)
    assert.equal(linesWith('"msg":"stopped"'), 0)
    assert.equal(linesWith('"msg":"request"'), 1)
  })

  it('applies at the start, and shows the settings', async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'settings')
    writeFileSync(file, 'UGS_ACCESS_LOG=full\n')
    const environment = { UGS_LOG_SETTINGS_FILE: file }
    const service = await startService(t, environment)
    const { headers } = await userApi(service.origin).get({})
    await service.logged(`"request_id":"${headers['x-request-id']}"`)
    assert.equal((await runUgs(['log-level'], environment)).stdout, 'LOG_LEVEL=info UGS_ACCESS_LOG=1\n')
  })

  it('keeps a symbolic link and the mode of the file', async (t) => {
    const folder = temporaryFolder(t)
    const [file, link] = [join(folder, 'settings'), join(folder, 'link')]
    writeFileSync(file, 'LOG_LEVEL=warn\n')
    chmodSync(file, 0o644)
    symlinkSync('settings', link)
    const run = (...args: string[]) => runUgs(['log-level', ...args], { UGS_LOG_SETTINGS_FILE: link })
    assert.equal((await run('debug')).code, 0)
    assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['LOG_LEVEL=debug\n', 0o644])
    assert.equal((await run('default')).code, 0)
    assert.deepEqual(readdirSync(folder), ['link'])
    assert.equal((await run('error')).code, 0)
    assert.equal(readFileSync(file, 'utf8'), 'LOG_LEVEL=error\n')
    const device = await runUgsInNewProcess(['log-level', 'debug'], { UGS_LOG_SETTINGS_FILE: '/dev/fd/1' })
    assert.equal(device.code, 1)
    assert.match(
      device.stderr,
      /^ugs: \/dev\/fd\/1: (?:is not a regular file|must have lines|cannot be read or written)/,
    )
  })

  it('says what is wrong', async (t) => {
    const folder = temporaryFolder(t)
    const run = (file: string, ...args: string[]) =>
      runUgs(['log-level', ...args], { UGS_LOG_SETTINGS_FILE: join(folder, file) })
    const absent = await run('absent/settings', 'debug')
    assert.equal(absent.code, 1)
    assert.match(absent.stderr, /^ugs: .*: the folder .*absent does not exist; set UGS_LOG_SETTINGS_FILE/)
    writeFileSync(join(folder, 'other'), 'PORT=1\n')
    const other = await run('other', 'debug')
    assert.equal(other.code, 1)
    assert.match(
      other.stderr,
      /other: must have lines LOG_LEVEL=… and UGS_ACCESS_LOG=… only; run `ugs log-level/,
    )
    assert.equal((await run('other', 'default')).code, 0)
    mkdirSync(join(folder, 'folder', 'full'), { recursive: true })
    assert.match((await run('folder', 'debug')).stderr, /folder: cannot be read or written \(EISDIR\)$/m)
    assert.equal((await run('folder', 'default', '--access-log', 'full')).code, 1)
    const rare = await run('x', 'warn', '--access-log', '0.0000001')
    assert.equal(rare.stdout, 'LOG_LEVEL=warn UGS_ACCESS_LOG=0.0000001\n')
    assert.equal((await run('x', '--access-log', 'off')).stdout, 'LOG_LEVEL=warn UGS_ACCESS_LOG=off\n')
    assert.equal(readFileSync(join(folder, 'x'), 'utf8'), 'LOG_LEVEL=warn\nUGS_ACCESS_LOG=off\n')
    assert.deepEqual(readdirSync(folder).sort(), ['folder', 'x'])
    for (const wrong of [['loud'], ['--access-log', '2']]) assert.equal((await run('x', ...wrong)).code, 2)
  })
})
