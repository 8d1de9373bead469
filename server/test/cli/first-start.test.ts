import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import BetterSqlite3 from 'better-sqlite3'
import { signedIn, useLink } from '../support/console.ts'
import { sendRequest } from '../support/http.ts'
import {
  failureIn,
  runUgs,
  startNewProcess,
  startService,
  temporaryFolder,
  ugsFile,
} from '../support/service.ts'
import { curl, findTool, type Tool } from '../support/tool.ts'

const run = promisify(execFile)

/** Returns the messages of the warnings in a log. */
function warningsIn(log: string): string[] {
  return [...log.matchAll(/^{"level":40,.*"msg":"(.*)"}$/gm)].map(([, message = '']) => message)
}

const script: Tool = {
  name: 'script',
  hint: 'apt-get install bsdutils',
  commands: ['script'],
  probe: ['--version'],
}

/** Starts the service on a terminal and returns what it shows once it is up. */
async function startOnTerminal(t: TestContext): Promise<string> {
  const command = `exec ${process.execPath} ${ugsFile} serve`
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { PATH, HOME, PORT: '0', UGS_DRAIN_MS: '0', UGS_DATA_DIR: join(temporaryFolder(t), 'data') },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(async () => {
    // Ctrl-C.
    child.stdin.write('\x03')
    await once(child, 'exit')
  })
  let screen = ''
  while (!/customer-42.*\n/.test(screen)) {
    const [text] = (await once(child.stdout, 'data')) as [Buffer]
    screen += text.toString().replaceAll('\r\n', '\n')
  }
  return screen
}

describe('the first start', () => {
  it('prints a banner to a terminal, with a sign-in link and a command that work', async (t) => {
    if (findTool(t, curl) === undefined || findTool(t, script) === undefined) return
    const screen = await startOnTerminal(t)
    const lines = screen.split('\n')
    assert.ok(lines.length <= 24, screen)
    assert.ok(
      lines.every((line) => line.length <= 100 || line.includes('ugs.db')),
      screen,
    )
    // The log is text too.
    assert.match(screen, /^\d\d:\d\d:\d\d info the store was opened store=/m)
    assert.doesNotMatch(screen, /^\{/m)
    const [link = ''] = /http\S+#sign-in=\S+/.exec(screen) ?? []
    const { session } = signedIn(await useLink(new URL(link).origin, link))
    assert.equal(session.api_environment_tag, 'Testing')
    const [, command = ''] = /^ {2}(curl (?:.*\\\n)*.*)$/m.exec(screen) ?? []
    const result = await run('bash', ['-c', command])
    assert.match(result.stdout, /^\{"success":1,"new_user_group":true,.*"provided_id":"customer-42"/)
  })

  it('prints no API token without a terminal, but commands that create one and use it', async (t) => {
    const settings = { UGS_DATA_DIR: join(temporaryFolder(t), 'data'), UGS_PRINT_API_TOKENS: '' }
    const { stdout, stderr, stop } = await startNewProcess(t, settings)
    assert.doesNotMatch(stdout() + stderr(), /ug[at]_|sign-in/)
    const lines = stdout().trim().split('\n')
    const [first] = lines.flatMap((line) => {
      const { first_request, msg } = JSON.parse(line) as { first_request?: string; msg: string }
      return first_request === undefined ? [] : [{ first_request, msg }]
    })
    assert.match(
      first?.msg ?? '',
      /npx user-group-service api-token create --environment Testing --name backend$/,
    )
    if (findTool(t, curl) !== undefined) {
      const command =
        first?.first_request.replace('npx user-group-service', `${process.execPath} ${ugsFile}`) ?? ''
      const { PATH = '' } = process.env
      const result = await run('bash', ['-c', command], { env: { PATH, ...settings } })
      assert.match(result.stdout, /^\{"success":1,"new_user_group":true/)
    }
    await stop()
    const second = await startNewProcess(t, { ...settings, UGS_PRINT_API_TOKENS: 'always' })
    assert.equal(second.stdout().includes('uga_'), findTool(t, curl) === undefined)
  })

  it('prints lines of JSON if asked to, with a command that works, and no sign-in link', async (t) => {
    const { stdout, stderr, tokens } = await startNewProcess(t)
    const lines = `${stdout()}${stderr()}`.trim().split('\n')
    const parsed = lines.map(
      (line) => JSON.parse(line) as { level: number; api_tokens?: object; first_request?: string },
    )
    assert.ok(parsed.every(({ level }) => level === 30))
    const first = parsed.find(({ api_tokens }) => api_tokens !== undefined)
    assert.deepEqual(first?.api_tokens, tokens)
    assert.doesNotMatch(stdout(), /sign-in/)
    if (findTool(t, curl) === undefined) return
    const result = await run('bash', ['-c', first.first_request ?? ''])
    assert.match(result.stdout, /^\{"success":1,"new_user_group":true/)
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
    const response = await sendRequest(second.origin, {
      token: tokens.Customer,
      body: { user_group_id: 'a' },
    })
    assert.equal(response.status, 200)
  })

  it('prints the same text and warnings once with several workers', async (t) => {
    const printed = async (...args: string[]) => {
      const { origin, dataFolder, stdout, stderr } = await startNewProcess(t, { UGS_PORT: '1' }, args)
      assert.deepEqual(warningsIn(stderr()), [
        'UGS_PORT is not a setting and has no effect. Did you mean PORT?',
      ])
      return stdout()
        .replaceAll(origin, 'ORIGIN')
        .replaceAll(dataFolder, 'FOLDER')
        .replace(/(uga_(customer|testing)_)\w+/g, '$1…')
        .replaceAll(/"time":\d+/g, '')
    }
    assert.equal(await printed('--workers', '2'), await printed())
  })

  it('names the store and its environment variables that are not settings', async (t) => {
    const first = await startNewProcess(t, {
      UGS_DATA_DIRS: '/elsewhere',
      UGS_API_TOKEN: 'uga_x',
      UGS_EMPTY: '',
    })
    const file = join(first.dataFolder, 'ugs.db')
    assert.ok(first.stdout().includes(`"store":"${file}"`))
    assert.match(first.stderr(), new RegExp(`"store":"${file}","msg":"the store was opened"`))
    assert.deepEqual(warningsIn(first.stderr()), [
      'UGS_DATA_DIRS is not a setting and has no effect. Did you mean UGS_DATA_DIR?',
    ])
  })

  it('creates files that only the owner can read', async (t) => {
    const service = await startNewProcess(t)
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
    assert.match(
      first.stdout(),
      /npx user-group-service api-token create --environment Testing --name backend/,
    )
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
    const settings = {
      PORT: '0',
      UGS_DATA_DIR: service.dataFolder,
      UGS_LOCK_TIMEOUT_MS: '50',
      UGS_PRINT_API_TOKENS: 'always',
    }
    const result = await runUgs(['serve'], settings)
    database.close()
    assert.equal(result.code, 1)
    assert.match(failureIn(result.stderr), /^The store is unavailable \(SQLITE_BUSY: .*\)/)
    assert.doesNotMatch(result.stdout, /uga_/)
  })

  it('leaves no store behind a setting that is wrong', async (t) => {
    const wrong: Record<string, string> = {
      // Reserved for documentation, so never an address of this machine.
      HOST: '192.0.2.1',
      UGS_METRICS_HOST: '192.0.2.1',
      UGS_SECRET_KEYS_FILE: join(temporaryFolder(t), 'absent'),
    }
    for (const [name, value] of Object.entries(wrong)) {
      const folder = join(temporaryFolder(t), 'data')
      const settings = { UGS_METRICS_PORT: '0', UGS_DATA_DIR: folder, [name]: value }
      await assert.rejects(startService(t, settings), new RegExp(`ended with 1: .*${name}`))
      assert.ok(!existsSync(folder), name)
    }
  })

  it('names a data folder that cannot be created', async (t) => {
    const file = join(temporaryFolder(t), 'file')
    writeFileSync(file, '')
    for (const folder of [file, join(file, 'below'), '/proc/below']) {
      await assert.rejects(startService(t, { UGS_DATA_DIR: folder }), ({ message }: Error) =>
        message.startsWith(`the service ended with 1: ${folder}: the folder cannot be created (E`),
      )
    }
  })
})
