import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { sendRequest } from '../support/http.ts'
import {
  failureIn,
  runUgs,
  runUgsInNewProcess,
  runUgsInThisProcess,
  sharedService,
  startNewProcess,
  temporaryFolder,
  ugsFile,
  type CommandResult,
} from '../support/service.ts'

describe('ugs on the store of a running service', () => {
  const service = sharedService()
  const ugs = (line: string, ...rest: string[]) => service().ugs(...line.split(' '), ...rest)
  const customer = () => service().tokens.Customer

  /** Parses the standard output of a successful command. The tests check its shape. */
  function json(result: CommandResult): any {
    assert.equal(result.code, 0, result.stderr)
    return JSON.parse(result.stdout)
  }

  describe('workspace', () => {
    it('create refuses a taken name, and list shows all workspaces', async () => {
      assert.equal((await ugs('workspace create second')).code, 0)
      const again = await ugs('workspace create second')
      assert.equal(again.code, 1)
      assert.match(again.stderr, /there is already a workspace "second"/)
      const names = json(await ugs('workspace list --json')).map(({ name }: { name: string }) => name)
      assert.deepEqual(names, ['default', 'second'])
      assert.match((await ugs('workspace list')).stdout, /^ID +NAME +CREATED\n1 +default .*\n2 +second /)
      assert.equal(json(await ugs('workspace create third --json')).name, 'third')
    })
  })

  describe('api-token', () => {
    it('create prints only the token to standard output', async () => {
      const created = await ugs('api-token create --environment Testing --name backend')
      assert.equal(created.code, 0)
      assert.match(created.stdout, /^uga_testing_[0-9A-Za-z]{38}\n$/)
      assert.match(
        created.stderr,
        /"backend" for Testing in workspace "default" \(scope: write, never expires\)/,
      )
      const response = await sendRequest(service().origin, {
        token: created.stdout.trim(),
        body: { user_group_id: 'from-cli-token', name: 'A' },
      })
      assert.equal(response.status, 200)
    })

    it('create accepts scopes, a lifetime and a workspace', async () => {
      await ugs('workspace create elsewhere')
      const created = json(
        await ugs(
          'api-token create --environment Customer --name x --scopes read,introspect --expires-in 90d --workspace elsewhere --json',
        ),
      )
      assert.deepEqual(created.scopes, ['read', 'introspect'])
      const listed = json(await ugs('api-token list --json')).find(
        ({ id }: { id: number }) => id === created.id,
      )
      assert.equal(listed.workspace, 'elsewhere')
      assert.equal(Date.parse(created.expires_at) - Date.parse(created.created_at), 90 * 86_400_000)
      assert.match(created.token, /^uga_customer_/)
    })

    it('list shows no tokens, and revoke stops a token permanently', async () => {
      const created = json(await ugs('api-token create --environment Customer --name leaked --json'))
      const listed = await ugs('api-token list --json')
      assert.doesNotMatch(listed.stdout, /uga_/)
      const find = (result: CommandResult) =>
        json(result).find(({ id }: { id: number }) => id === created.id) as { revoked_at: string | null }
      assert.equal(find(listed).revoked_at, null)
      const table = await ugs('api-token list')
      assert.match(table.stdout, /ID +WORKSPACE +ENVIRONMENT +NAME/)
      assert.doesNotMatch(table.stdout, /uga_/)

      assert.equal((await ugs(`api-token revoke ${created.id}`)).code, 0)
      assert.notEqual(find(await ugs('api-token list --json')).revoked_at, null)
      const unknown = await ugs('api-token revoke 99999')
      assert.equal(unknown.code, 1)
      assert.match(unknown.stderr, /there is no API token 99999/)
    })
  })

  describe('user-group', () => {
    const onCustomer = '--environment Customer'

    it('get-or-create prints the token that the API returns', async () => {
      const created = await ugs(
        `user-group get-or-create cli-1 ${onCustomer} --name`,
        'A name',
        '--mapping',
        '{"40":"213"}',
        '--properties',
        '{ "region": "EU" }',
      )
      assert.equal(created.code, 0, created.stderr)
      assert.match(created.stderr, /Created user group "cli-1"/)
      const { body } = await sendRequest(service().origin, {
        token: customer(),
        body: { user_group_id: 'cli-1' },
      })
      assert.equal(body.new_user_group, false)
      assert.equal(created.stdout, `${body.user_group.token}\n`)
      assert.deepEqual(body.user_group.properties, { region: 'EU' })
      const again = json(await ugs(`user-group get-or-create cli-1 ${onCustomer} --json`))
      assert.equal(again.new_user_group, false)
      assert.equal(again.user_group.token, body.user_group.token)
    })

    it('update changes the given fields, and refuses an unknown id', async () => {
      await ugs(`user-group get-or-create cli-2 ${onCustomer} --name A --properties {"a":1}`)
      const updated = json(
        await ugs(`user-group update cli-2 ${onCustomer} --properties null --name B --json`),
      )
      assert.equal(updated.user_group.name, 'B')
      assert.equal(updated.user_group.properties, null)
      assert.equal(updated.user_group.token, undefined)
      const unknown = await ugs(`user-group update nobody ${onCustomer} --name B`)
      assert.equal(unknown.code, 1)
      assert.match(unknown.stderr, /No user group has this user_group_id/)
    })

    it('show prints the token only on request', async () => {
      await ugs(`user-group get-or-create cli-3 ${onCustomer} --name A --mapping {"1":"2"}`)
      const shown = json(await ugs(`user-group show cli-3 ${onCustomer} --json`))
      assert.deepEqual(Object.keys(shown), [
        'team_id',
        'provided_id',
        'api_environment_tag',
        'name',
        'mapping',
        'properties',
        'revision',
        'created_at',
        'updated_at',
        'updated_by',
        'token_issued_at',
        'suspended_at',
      ])
      assert.deepEqual(shown.mapping, { '1': '2' })
      assert.match(json(await ugs(`user-group show cli-3 ${onCustomer} --show-token --json`)).token, /^ugt_/)
      assert.doesNotMatch((await ugs(`user-group show cli-3 ${onCustomer}`)).stdout, /ugt_/)
      assert.equal((await ugs('user-group show cli-3 --environment Testing')).code, 1)
    })

    it('rotate replaces the token immediately', async () => {
      const before = (await ugs(`user-group get-or-create cli-4 ${onCustomer} --name A`)).stdout.trim()
      const rotated = await ugs(`user-group rotate cli-4 ${onCustomer} --grace 1h`)
      assert.equal(rotated.code, 0)
      assert.match(rotated.stdout, /^ugt_customer_\w+\n$/)
      const stale = await sendRequest(service().origin, {
        method: 'POST',
        token: customer(),
        body: { current_token: before },
      })
      assert.equal(stale.body.error.code, 'token_superseded')
      const fresh = await sendRequest(service().origin, {
        method: 'POST',
        token: customer(),
        body: { current_token: rotated.stdout.trim() },
      })
      assert.equal(fresh.status, 200)
      assert.equal((await ugs(`user-group rotate cli-4 ${onCustomer} --grace 8d`)).code, 2)
    })

    it('list prints pages in the order of ids', async () => {
      for (const id of ['l3', 'l1', 'l2']) {
        await ugs(`user-group get-or-create ${id} --environment Testing --name A`)
      }
      const ids = (result: CommandResult) =>
        json(result).map(({ provided_id }: { provided_id: string }) => provided_id)
      assert.deepEqual(ids(await ugs('user-group list --environment Testing --after l --limit 2 --json')), [
        'l1',
        'l2',
      ])
      const page = await ugs('user-group list --environment Testing --after l --limit 2')
      assert.match(page.stderr, /--after "l2"/)
      assert.doesNotMatch(page.stdout, /ugt_/)
    })

    it('delete deletes; a new user group with the same id gets another token', async () => {
      const before = (await ugs(`user-group get-or-create cli-5 ${onCustomer} --name A`)).stdout
      assert.equal((await ugs(`user-group delete cli-5 ${onCustomer}`)).code, 0)
      assert.equal((await ugs(`user-group delete cli-5 ${onCustomer}`)).code, 1)
      const after = await ugs(`user-group get-or-create cli-5 ${onCustomer} --name A`)
      assert.match(after.stderr, /Created/)
      assert.notEqual(after.stdout, before)
    })

    const refused: [options: string[], message: RegExp][] = [
      [['--name', ''], /name: must have 1 to 255 characters/],
      [['--name', 'A', '--mapping', '{"1":2}'], /mapping\/1: must be a string/],
      [['--name', 'A', '--properties', '[]'], /properties: must be an object or null/],
      [['--name', 'A', '--properties', '{"a":1,"a":2}'], /\/a is a duplicate key/],
      [['--name', 'A', '--properties', '{'], /not JSON/],
      [['--name', 'A', '--properties', '{},"mapping":{}'], /not JSON/],
    ]
    for (const [options, message] of refused) {
      it(`get-or-create refuses ${options.join(' ')} with the message of the API`, async () => {
        const result = await ugs(`user-group get-or-create refused ${onCustomer}`, ...options)
        assert.equal(result.code, 2)
        assert.match(result.stderr, message)
        assert.equal(result.stdout, '')
      })
    }

    it('get-or-create requires a name for a new user group', async () => {
      const result = await ugs(`user-group get-or-create nobody ${onCustomer}`)
      assert.equal(result.code, 1)
      assert.match(result.stderr, /name: is required/)
    })

    it('lists the workspaces if one is unknown', async () => {
      const result = await ugs(`user-group list ${onCustomer} --workspace typo`)
      assert.equal(result.code, 2)
      assert.match(result.stderr, /no workspace "typo"; the workspaces are "default"/)
    })
  })
})

describe('ugs', () => {
  const usage: string[][] = [
    [],
    ['fly'],
    ['api-token'],
    ['api-token', 'create'],
    ['api-token', 'create', '--environment', 'Production', '--name', 'x'],
    ['api-token', 'create', '--environment', 'Customer', '--name', ' '],
    ['api-token', 'create', '--environment', 'Customer', '--name', 'x', '--scopes', 'root'],
    ['api-token', 'create', '--environment', 'Customer', '--name', 'x', '--expires-in', '90'],
    ['api-token', 'revoke', 'x'],
    ['user-group', 'show'],
    ['user-group', 'list', '--environment', 'Customer', '--limit', '0'],
    ['workspace', 'create'],
    ['serve', '--port', '1'],
  ]
  for (const args of usage) {
    it(`exits with 2 on wrong usage: ugs ${args.join(' ')}`, async (t) => {
      const result = await runUgs(args, { UGS_DATA_DIR: temporaryFolder(t) })
      assert.equal(result.code, 2)
      assert.notEqual(result.stderr, '')
      assert.equal(result.stdout, '')
    })
  }

  it('prints help and version', async () => {
    for (const args of [['--help'], ['serve', '--help'], ['api-token', 'create', '--help'], ['--version']]) {
      const result = await runUgsInThisProcess(args, {})
      assert.equal(result.code, 0)
      assert.notEqual(result.stdout, '')
    }
  })

  it('reports all configuration problems at once and exits with 1', async () => {
    const result = await runUgsInNewProcess(['serve'], { PORT: 'x', LOG_LEVEL: 'loud' })
    assert.equal(result.code, 1)
    assert.match(
      failureIn(result.stderr),
      /PORT: must be a whole number from 0 to 65535\n +LOG_LEVEL: must be one of/,
    )
    assert.deepEqual(Object.keys(JSON.parse(result.stderr)), ['level', 'time', 'msg'])
  })

  for (const args of [[], ['--workers', '2']])
    it(`reports a port in use before it creates anything: serve ${args.join(' ')}`, async (t) => {
      const taken = createServer().listen(0, '127.0.0.1')
      t.after(() => taken.close())
      await once(taken, 'listening')
      const { port } = taken.address() as { port: number }
      const folder = join(temporaryFolder(t), 'data')
      const result = await runUgsInNewProcess(['serve', ...args], {
        PORT: String(port),
        UGS_DATA_DIR: folder,
      })
      assert.deepEqual(
        [result.code, failureIn(result.stderr)],
        [1, 'PORT: the address is already in use; use another port'],
      )
      assert.ok(!existsSync(folder))
    })

  it('migrate creates the tables, and does nothing when run again', async (t) => {
    const folder = temporaryFolder(t)
    for (let i = 0; i < 2; i++) {
      const result = await runUgs(['migrate'], { UGS_DATA_DIR: folder })
      assert.equal(result.code, 0)
      assert.match(result.stderr, /up to date/)
    }
  })

  it('serve ends immediately on a second signal', async (t) => {
    const service = await startNewProcess(t, { UGS_DRAIN_MS: '600000' })
    process.kill(service.pid, 'SIGTERM')
    await service.logged('stopping')
    assert.equal(await service.stop('SIGINT'), null)
  })

  it('serve responds to all requests and exits with 0 on SIGTERM and SIGINT', async (t) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const service = await startNewProcess(t)
      const requests = Array.from({ length: 24 }, (_, i) =>
        sendRequest(service.origin, {
          token: service.tokens.Customer,
          body: { user_group_id: `g${i}`, name: 'A' },
        }),
      )
      const responses = await Promise.all(requests)
      assert.equal(await service.stop(signal), 0)
      for (const { status } of responses) assert.equal(status, 200)
    }
  })

  it('fails if an issued token cannot be printed', async (t) => {
    const folder = temporaryFolder(t)
    assert.equal((await runUgs(['migrate'], { UGS_DATA_DIR: folder })).code, 0)
    const child = spawn(
      process.execPath,
      [ugsFile, 'api-token', 'create', '--environment', 'Testing', '--name', 'x'],
      {
        env: { UGS_DATA_DIR: folder },
        stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      },
    )
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 1)
    assert.match(
      stderr,
      /its output could not be written \(ENOSPC\)\. If the output had a token, the token is lost/,
    )
  })

  it('serve keeps running and stops on request if its log cannot be written', async (t) => {
    const child = spawn(process.execPath, [ugsFile, 'serve'], {
      env: { PORT: '0', UGS_DATA_DIR: temporaryFolder(t), UGS_DRAIN_MS: '0' },
      stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
    })
    t.after(() => child.kill('SIGKILL'))
    let stdout = ''
    while (!stdout.includes('listens on')) {
      const [text] = (await once(child.stdout as Readable, 'data')) as [Buffer]
      stdout += text.toString()
    }
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number]
    assert.equal(code, 0)
  })
})
