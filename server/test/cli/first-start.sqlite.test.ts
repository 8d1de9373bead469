import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import BetterSqlite3 from 'better-sqlite3'
import { sendRequest } from '../support/http.ts'
import {
  runUgsInNewProcess as runUgs,
  startNewProcess as startService,
  temporaryFolder,
} from '../support/service.ts'
import { curl, findTool } from '../support/tool.ts'

const run = promisify(execFile)

/** Returns the messages of the warnings in a log. */
function warningsIn(log: string): string[] {
  return [...log.matchAll(/^{"level":40,.*"msg":"(.*)"}$/gm)].map(([, message = '']) => message)
}

describe('the first start', () => {
  it('prints commands that return the printed responses', async (t) => {
    if (findTool(t, curl) === undefined) return
    const { stdout } = await startService(t)
    // Each command, possibly over several lines, is followed by its response.
    const pasted = [...stdout().matchAll(/^ {2}(curl (?:.*\\\n)*.*)\n\n {2}returns (.*)$/gm)]
    assert.equal(pasted.length, 3)
    const withoutToken = (text: string) => text.replace(/(ugt_testing_)\w+/g, '$1…')
    for (const [, command = '', response = ''] of pasted) {
      const result = await run('bash', ['-c', command])
      assert.equal(withoutToken(result.stdout), response)
    }
  })

  it('prints an API token for each environment only once', async (t) => {
    const first = await startService(t)
    const { tokens } = first
    for (const token of [tokens.Customer, tokens.Testing]) {
      const response = await sendRequest(first.origin, { token, body: { user_group_id: 'a', name: 'A' } })
      assert.equal(response.status, 200)
    }
    assert.match(tokens.Customer, /^uga_customer_/)
    await first.stop()
    const second = await startService(t, { UGS_DATA_DIR: first.dataFolder })
    assert.doesNotMatch(second.stdout(), /ug[at]_/)
    assert.doesNotMatch(second.stdout(), /curl/)
    const response = await sendRequest(second.origin, {
      token: tokens.Customer,
      body: { user_group_id: 'a' },
    })
    assert.equal(response.status, 200)
  })

  it('prints the same text once with several workers', async (t) => {
    const printed = async (...args: string[]) => {
      const { origin, dataFolder, stdout } = await startService(t, {}, args)
      return stdout()
        .replaceAll(origin, 'ORIGIN')
        .replaceAll(dataFolder, 'FOLDER')
        .replace(/(uga_(customer|testing)_)\w+/g, '$1…')
    }
    assert.equal(await printed('--workers', '2'), await printed())
  })

  it('names the store and its environment variables that are not settings', async (t) => {
    const first = await startService(t, {
      UGS_DATA_DIRS: '/elsewhere',
      UGS_API_TOKEN: 'uga_x',
      UGS_EMPTY: '',
    })
    const file = join(first.dataFolder, 'ugs.db')
    assert.match(first.stdout(), new RegExp(`^The store is ${file}$`, 'm'))
    assert.match(first.stderr(), new RegExp(`"store":"${file}","msg":"the store was opened"`))
    assert.deepEqual(warningsIn(first.stderr()), [
      'UGS_DATA_DIRS is not a setting and has no effect. Did you mean UGS_DATA_DIR?',
    ])
  })

  it('warns once of a variable that is not a setting, also with several workers', async (t) => {
    const { stderr } = await startService(t, { UGS_PORT: '1' }, ['--workers', '2'])
    assert.deepEqual(warningsIn(stderr()), [
      'UGS_PORT is not a setting and has no effect. Did you mean PORT?',
    ])
  })

  it('creates files that only the owner can read', async (t) => {
    const service = await startService(t)
    await sendRequest(service.origin, {
      token: service.tokens.Customer,
      body: { user_group_id: 'a', name: 'A' },
    })
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
    assert.equal(mode(service.dataFolder), '700')
    const files = readdirSync(service.dataFolder)
    assert.ok(files.includes('ugs.db') && files.includes('secret-keys'))
    for (const file of files) assert.equal(mode(join(service.dataFolder, file)), '600', file)
  })

  it('prints no token with DATABASE_URL, but how to create one', async (t) => {
    const folder = temporaryFolder(t)
    const environment = { DATABASE_URL: `sqlite:${folder}/ugs.db`, UGS_DATA_DIR: folder }
    const first = await startService(t, environment)
    assert.doesNotMatch(first.stdout(), /ug[at]_(customer|testing)/)
    assert.match(first.stdout(), /npx ugs api-token create --environment Customer --name NAME/)
    const created = await first.ugs('api-token', 'create', '--environment', 'Customer', '--name', 'backend')
    const token = created.stdout.trim()
    const response = await sendRequest(first.origin, { token, body: { user_group_id: 'a', name: 'A' } })
    assert.equal(response.status, 200)
    await first.stop()
    const second = await startService(t, environment)
    assert.doesNotMatch(second.stdout(), /api-token create/)
  })

  it('creates no token in a store that already has one', async (t) => {
    const folder = temporaryFolder(t)
    for (const command of ['migrate', 'api-token create --environment Testing --name mine']) {
      assert.equal((await runUgs(command.split(' '), { UGS_DATA_DIR: folder })).code, 0)
    }
    const service = await startService(t, { UGS_DATA_DIR: folder })
    assert.doesNotMatch(service.stdout(), /uga_/)
  })
})

describe('a start that fails', () => {
  it('ends the process even if it already listens', async (t) => {
    const service = await startService(t)
    await service.stop()
    const database = new BetterSqlite3(join(service.dataFolder, 'ugs.db'))
    database.exec('DELETE FROM api_token')
    database.exec('BEGIN IMMEDIATE')
    const settings = { PORT: '0', UGS_DATA_DIR: service.dataFolder, UGS_LOCK_TIMEOUT_MS: '50' }
    const result = await runUgs(['serve'], settings)
    database.close()
    assert.equal(result.code, 1)
    assert.match(result.stderr, /ugs: The store is unavailable \(SQLITE_BUSY: .*\)/)
    assert.doesNotMatch(result.stdout, /uga_/)
  })

  it('names a data folder that cannot be created', async (t) => {
    const file = join(temporaryFolder(t), 'file')
    writeFileSync(file, '')
    for (const folder of [file, join(file, 'below')]) {
      const result = await runUgs(['serve'], { PORT: '0', UGS_DATA_DIR: folder })
      assert.equal(result.code, 1)
      assert.ok(result.stderr.startsWith(`ugs: ${folder}: the folder cannot be created (E`), result.stderr)
    }
  })
})
