import assert from 'node:assert/strict'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { examine, examineOne, findingsOf, withClockAhead } from '../support/doctor.ts'
import { written } from '../support/kept.ts'
import { secretKeyText } from '../support/secret-key.ts'
import { runUgs, startService, temporaryFolder } from '../support/service.ts'

const isOnPostgres = process.env.UGS_TEST_STORE === 'postgres'
/** The tests' server does not flush, and its disk may be full of other things. */
const ofTheMachine = isOnPostgres ? ['--skip', 'durability,disk'] : ['--skip', 'disk']

describe('ugs doctor', () => {
  it('finds nothing wrong in a new store, changes nothing and exits with 0', async (t) => {
    const service = await startService(t)
    await service.stop()
    const before = await written(service)
    const { code, stdout, stderr } = await service.ugs('doctor', ...ofTheMachine)
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^passed +\w[\w, -]*schema/)
    assert.match(stdout, /secret-keys\n/)
    assert.equal(stderr, '')
    assert.deepEqual(await written(service), before)
  })

  it('works while a service runs', async (t) => {
    const service = await startService(t)
    assert.equal((await service.ugs('doctor', ...ofTheMachine)).code, 0)
  })

  it('prints JSON with all checks, their problems and remedies', async (t) => {
    const service = await startService(t)
    rmSync(join(service.dataFolder, 'secret-keys'))
    const { code, stdout, stderr } = await service.ugs('doctor', '--json', ...ofTheMachine)
    assert.equal(code, 1)
    assert.equal(stderr, 'ugs: found 1 error and 0 warnings\n')
    const { errors, warnings, checks, findings } = JSON.parse(stdout)
    assert.deepEqual({ errors, warnings }, { errors: 1, warnings: 0 })
    assert.deepEqual(checks.at(-1), { name: 'secret-keys', status: 'error' })
    assert.deepEqual(Object.keys(findings[0]), ['check', 'severity', 'problem', 'remedy'])
  })

  it('refuses an unknown check in --skip', async (t) => {
    const { code, stderr } = await (await startService(t)).ugs('doctor', '--skip', 'nothing')
    assert.equal(code, 2)
    assert.match(stderr, /--skip: there is no check "nothing"; the checks are .*schema/)
  })

  it('finds secret keys that are missing, wrong or readable by others, and shows none', async (t) => {
    const [one, two] = [secretKeyText('one', 1), secretKeyText('two', 2)]
    const { dataFolder, databaseUrl, stop } = await startService(t, { UGS_SECRET_KEYS: one })
    await stop()
    const keysFound = async (settings: Record<string, string>) => {
      const all = {
        UGS_DATA_DIR: dataFolder,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...settings,
      }
      const { stdout, stderr } = await runUgs(['doctor', '--json'], all)
      for (const key of [one, two]) assert.ok(!(stdout + stderr).includes(key.split(':')[1] as string))
      return findingsOf(stdout, 'secret-keys')
    }
    assert.deepEqual(await keysFound({ UGS_SECRET_KEYS: one }), [])
    assert.match((await keysFound({ UGS_SECRET_KEYS: two }))[0]?.problem ?? '', /"one" is missing/)
    const [wrong] = await keysFound({ UGS_SECRET_KEYS: secretKeyText('one', 2) })
    assert.match(wrong?.problem ?? '', /"one" is not the key/)
    const [absent] = await keysFound({})
    assert.match(absent?.problem ?? '', /is missing, but the store has tokens/)
    assert.match(absent?.remedy ?? '', /^Restore the file/)
    assert.ok(!existsSync(join(dataFolder, 'secret-keys')))

    const file = join(temporaryFolder(t), 'keys')
    writeFileSync(file, `${one}\n`)
    chmodSync(file, 0o644)
    const [exposed] = await keysFound({ UGS_SECRET_KEYS_FILE: file })
    assert.equal(exposed?.severity, 'error')
    assert.match(exposed.remedy, new RegExp(`^Run \`chmod 600 ${file}\``))
    chmodSync(file, 0o600)
    assert.deepEqual(await keysFound({ UGS_SECRET_KEYS_FILE: file }), [])
    const [gone] = await keysFound({ UGS_SECRET_KEYS_FILE: `${file}-gone` })
    assert.match(gone?.problem ?? '', /is missing/)
  })

  it('finds a clock that differs', async (t) => {
    const service = await startService(t)
    await service.stop()
    const settings = {
      UGS_DATA_DIR: service.dataFolder,
      ...(service.databaseUrl !== undefined && { DATABASE_URL: service.databaseUrl }),
    }
    const finding = await examineOne({ ...settings, ...withClockAhead(-3_600_000) }, 'clock')
    assert.equal(finding.severity, 'error')
    assert.match(finding.problem, /3(5|6)\d\d(\.\d)? s (in the future|behind)/)
    assert.deepEqual(await examine(settings, 'clock'), [])
    if (!isOnPostgres) return
    const small = await examineOne({ ...settings, ...withClockAhead(10_000) }, 'clock')
    assert.equal(small.severity, 'warning')
    assert.match(small.problem, /10\.\d s ahead of that of the database/)
  })
})
