import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { signedIn, useLink } from '../support/console.ts'
import { runUgs, sharedService, temporaryFolder } from '../support/service.ts'
import { assertFault } from '../support/user-api.ts'

const linkPattern = /^http:\/\/127\.0\.0\.1:\d+\/console#sign-in=[\w-]{43}$/

describe('ugs console-link', () => {
  const service = sharedService()
  const createLink = async (...options: string[]) =>
    (await runCommand(service(), 'console-link', '--url', service().origin, ...options)).trim()

  it('prints a link that signs in once, under the API token of the system user', async () => {
    const { origin } = service()
    const link = await createLink()
    assert.match(link, linkPattern)
    const { session } = signedIn(await useLink(origin, link))
    assert.equal(session.api_environment_tag, 'Testing')
    assert.match(session.api_token.name, /^console \(cli:.+\)$/)
    assertFault(await useLink(origin, link), 'unauthenticated')
    const another = signedIn(await useLink(origin, await createLink()))
    assert.deepEqual(another.session.api_token, session.api_token)
    await runCommand(service(), 'api-token', 'revoke', String(session.api_token.id))
    const renewed = signedIn(await useLink(origin, await createLink()))
    assert.notEqual(renewed.session.api_token.id, session.api_token.id)
  })

  it('signs in to another environment, workspace or API token', async () => {
    const { origin } = service()
    await runCommand(service(), 'workspace', 'create', 'other')
    const elsewhere = await createLink('--environment', 'Customer', '--workspace', 'other')
    const { session } = signedIn(await useLink(origin, elsewhere))
    assert.deepEqual([session.api_environment_tag, session.workspace.name], ['Customer', 'other'])
    await createApiToken(service(), 'Customer', '--scopes', 'admin')
    const all = JSON.parse(await runCommand(service(), 'api-token', 'list', '--json')) as { id: number }[]
    const { id } = all.at(-1) as { id: number }
    const json = JSON.parse(await createLink('--api-token', String(id), '--json')) as { link: string }
    assert.equal(signedIn(await useLink(origin, json.link)).session.api_token.id, id)
  })

  it('refuses API tokens that cannot manage, and an unknown address', async () => {
    const run = (...args: string[]) => service().ugs('console-link', ...args)
    await createApiToken(service(), 'Customer', '--scopes', 'write')
    const all = JSON.parse(await runCommand(service(), 'api-token', 'list', '--json')) as { id: number }[]
    const id = String(all.at(-1)?.id)
    for (const [args, code, message] of [
      [
        ['--api-token', id],
        1,
        `API token ${id} is expired, revoked or lacks the scope observe, support or admin`,
      ],
      [['--api-token', '999'], 1, 'there is no API token 999'],
      [['--url', 'example.com'], 2, 'It must have the form https://HOST or https://HOST/PATH'],
      [['--url', 'https://example.com/?x'], 2, 'It must have the form https://HOST or https://HOST/PATH'],
    ] as const) {
      const result = await run('--url', service().origin, ...args)
      assert.equal(result.code, code, result.stderr)
      assert.ok(result.stderr.includes(message), result.stderr)
      assert.equal(result.stdout, '')
    }
    // The service of this test has PORT=0.
    const unknown = await run()
    assert.equal(unknown.code, 2)
    assert.match(unknown.stderr, /PORT is 0, so the address is unknown; set --url/)
  })
})

describe('ugs console-link without a service', () => {
  const service = sharedService()
  const run = (...args: string[]) => service().ugs('console-link', '--url', 'http://127.0.0.1:9', ...args)

  it('prints no link and creates nothing', async () => {
    const list = () => runCommand(service(), 'api-token', 'list')
    const before = await list()
    const { code, stdout, stderr } = await run()
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^ugs: no service responds at http:\/\/127\.0\.0\.1:9; start it with `ugs serve`/)
    assert.equal(await list(), before)
  })

  it('prints a link with --no-check', async () => {
    const { code, stdout } = await run('--no-check')
    assert.equal(code, 0)
    assert.match(stdout, /^http:\/\/127\.0\.0\.1:9\/console#sign-in=/)
  })
})

describe('ugs open', () => {
  const service = sharedService()

  /** Runs `ugs open` on a machine with this program as `xdg-open`. Returns its output and the opened address. */
  async function open(t: TestContext, xdgOpen: string, environment: Record<string, string>, url?: string) {
    const folder = temporaryFolder(t)
    const opened = join(folder, 'opened')
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\n${xdgOpen} > ${opened}\n`, { mode: 0o700 })
    const { dataFolder, databaseUrl, origin } = service()
    const result = await runUgs(['open', '--url', url ?? origin], {
      UGS_DATA_DIR: dataFolder,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      PATH: `${folder}:${process.env.PATH ?? ''}`,
      ...environment,
    })
    return { ...result, opened: () => readFileSync(opened, 'utf8').trim() }
  }

  it('opens the browser with a sign-in link, and does not print it', async (t) => {
    const { code, stdout, stderr, opened } = await open(t, 'printf %s "$*"', { DISPLAY: ':0' })
    assert.equal(code, 0, stderr)
    assert.match(opened(), linkPattern)
    assert.equal(stdout, '')
    assert.ok(!stderr.includes('#sign-in'))
    signedIn(await useLink(service().origin, opened()))
  })

  for (const [reason, xdgOpen, environment] of [
    ['without a screen', 'true', {}],
    ['if xdg-open fails', 'exit 3', { WAYLAND_DISPLAY: 'wayland-0' }],
  ] as const) {
    it(`prints the link ${reason}`, async (t) => {
      const { code, stdout, stderr } = await open(t, xdgOpen, environment)
      assert.equal(code, 0, stderr)
      assert.match(stderr, /No browser can be opened here/)
      signedIn(await useLink(service().origin, stdout.trim()))
    })
  }

  it('fails if no console is there, and creates nothing', async (t) => {
    const list = () => runCommand(service(), 'api-token', 'list')
    const before = await list()
    const absent = await open(t, 'true', {}, 'http://127.0.0.1:9')
    assert.equal(absent.code, 1)
    assert.match(absent.stderr, /no service responds at http:\/\/127\.0\.0\.1:9; start it with `ugs serve`/)
    assert.equal(await list(), before)
  })
})
