import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { assertRefused, assertSucceeded, startManaged } from '../../support/admin-api.ts'
import { createApiToken, runCommand } from '../../support/command.ts'
import {
  callOperation,
  secretOf,
  sessionPath,
  signed,
  signedIn,
  signIn,
  signingIn,
  useLink,
} from '../../support/console.ts'
import { sendRequest, type HttpResponse } from '../../support/http.ts'
import { assertFault } from '../../support/user-api.ts'

const { service, adminToken } = await startManaged({ after })
const { origin } = service

const enter = (token = adminToken, headers?: Record<string, string>) => signIn(origin, token, headers)
const enterTesting = async () => enter(await createApiToken(service, 'Testing', '--scopes', 'admin'))
const whoIs = (headers: Record<string, string>) => sendRequest(origin, { path: sessionPath, headers })
const leave = (headers: Record<string, string>) =>
  sendRequest(origin, { method: 'DELETE', path: sessionPath, headers })
const createLink = async () => (await runCommand(service, 'console-link', '--url', origin)).trim()

function assertUnauthenticated(response: HttpResponse): void {
  assertFault(response, 'unauthenticated')
  assert.equal(response.headers['set-cookie'], undefined)
}

describe('signing in', () => {
  for (const [from, forwarded, isSecure] of [
    ['https://ugs.example.com', undefined, true],
    ['https://ugs.example.com', 'http', true],
    ['http://ugs.example.com', undefined, false],
    ['http://localhost:8080', 'https', false],
    ['null', undefined, false],
    ['null', 'https', true],
    ['httpsx://ugs.example.com', undefined, false],
    [undefined, 'https', true],
    [undefined, 'HTTPS, http', true],
    [undefined, 'http, https', false],
    [undefined, 'httpsx', false],
  ] as const) {
    const described = `${from ?? 'no origin'}, forwarded from ${forwarded ?? 'nowhere'}`
    test(`sets a cookie that ${isSecure ? 'only this host over HTTPS' : 'any host'} can set: ${described}`, async () => {
      const headers = {
        ...(from !== undefined && { origin: from }),
        ...(forwarded !== undefined && { 'x-forwarded-proto': forwarded }),
      }
      const { response, cookie, csrfToken } = await enter(adminToken, headers)
      const [prefix, attribute] = isSecure ? ['__Host-', '; Secure'] : ['', '']
      assert.deepEqual(response.headers['set-cookie'], [
        `${cookie}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict${attribute}`,
      ])
      assert.ok(cookie.startsWith(`${prefix}ugs_session_customer=`), cookie)
      assert.equal((await whoIs({ cookie })).status, 200)
      const left = await leave({ cookie, 'x-csrf-token': csrfToken, ...headers })
      assert.deepEqual(
        left.headers['set-cookie'],
        ['customer', 'testing'].map(
          (name) => `${prefix}ugs_session_${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict${attribute}`,
        ),
      )
    })
  }

  test('ends the previous session of the same environment, and only if it succeeds', async () => {
    const first = await enter()
    const testing = await enterTesting()
    const cookie = `${first.cookie}; ${testing.cookie}`
    assertUnauthenticated(await signingIn(origin, { api_token: 'uga_customer_none' }, { cookie }))
    assert.equal((await whoIs({ cookie: first.cookie })).status, 200)

    const second = await enter(adminToken, { cookie })
    assertUnauthenticated(await whoIs({ cookie: first.cookie }))
    const read = await callOperation(origin, 'listWorkspaces', { headers: { cookie: first.cookie } })
    assertRefused(read, 'listWorkspaces', 'unauthenticated')
    for (const { cookie } of [second, testing]) assert.equal((await whoIs({ cookie })).status, 200)
  })
})

describe('a session', () => {
  test('is found among wrong cookies of the same name, and signing in works with any', async () => {
    const own = await enter()
    const secret = secretOf(own)
    const wrong = (value: string) => `ugs_session_customer=${value}`
    const unknown = Array.from({ length: 12 }, (_, i) => wrong(String(i).padEnd(43, 'x')))
    for (const others of [
      [wrong('x'.repeat(43))],
      [wrong('')],
      [wrong('%00%3D')],
      [wrong('"'), wrong('=;=')],
      [wrong('é')],
      [wrong('x'.repeat(8000))],
      [wrong(`${secret}x`), wrong(`"${secret}"`)],
      ['ugs_session_customer', '=', ''],
      [`ugs_session_testing=${'y'.repeat(43)}`],
      [`__Host-ugs_session_customer=${'z'.repeat(43)}`],
      unknown,
    ]) {
      for (const cookies of [
        [...others, own.cookie],
        [own.cookie, ...others],
      ]) {
        const cookie = cookies.join('; ')
        assert.deepEqual((await whoIs({ cookie })).body, { success: 1, sessions: [own.session] }, cookie)
        assertSucceeded(
          await callOperation(origin, 'listWorkspaces', { headers: { cookie } }),
          'listWorkspaces',
        )
        assertSucceeded(
          await callOperation(origin, 'listWorkspaces', { headers: { ...signed(own), cookie } }),
          'listWorkspaces',
        )
      }
      const again = await enter(adminToken, { cookie: others.join('; ') })
      assert.equal((await whoIs({ cookie: `${others.join('; ')}; ${again.cookie}` })).status, 200)
    }
    // Cookies of a longer path come first. Only some of many are looked up.
    const many = Array.from({ length: 200 }, (_, i) => wrong(String(i).padEnd(43, 'x')))
    assert.equal((await whoIs({ cookie: [...many, own.cookie].join('; ') })).status, 200)
    assertUnauthenticated(await whoIs({ cookie: [own.cookie, ...many].join('; ') }))
  })

  test('over HTTPS is not replaced by a cookie that another host can set', async () => {
    const https = { origin: 'https://ugs.example.com' }
    const foreign = await enter()
    const own = await enter(adminToken, https)
    for (const cookie of [`${foreign.cookie}; ${own.cookie}`, `${own.cookie}; ${foreign.cookie}`])
      for (const headers of [{ cookie }, { cookie, 'x-forwarded-proto': 'https' }])
        assert.deepEqual((await whoIs(headers)).body, { success: 1, sessions: [own.session] })
    for (const headers of [https, { 'x-forwarded-proto': 'https' }])
      assertUnauthenticated(await whoIs({ cookie: foreign.cookie, ...headers }))
    assertFault(await leave({ ...signed(own), 'x-csrf-token': foreign.csrfToken, ...https }), 'forbidden')
  })

  test('is not replaced by a sign-in link without a confirmation', async () => {
    const own = await enter()
    const testing = await enterTesting()
    const cookie = `${own.cookie}; ${testing.cookie}`
    const link = await createLink()
    for (let i = 0; i < 2; i++) {
      const asked = await useLink(origin, link, { headers: { cookie } })
      assert.equal(asked.status, 200, asked.text)
      assert.equal(asked.headers['set-cookie'], undefined)
      const { link: described, ...rest } = asked.body as { link: Record<string, unknown> }
      assert.deepEqual(rest, { success: 1, sessions: [own.session, testing.session] })
      const { api_token, expires_at, ...scope } = described
      assert.deepEqual(scope, {
        workspace: { id: 1, name: 'default' },
        api_environment_tag: 'Testing',
        role: 'admin',
      })
      assert.match((api_token as { name: string }).name, /^console \(cli:/)
      assert.ok(Date.parse(String(expires_at)) > Date.now())
    }
    for (const confirmed of [false, 'true', null])
      assertFault(await useLink(origin, link, { confirmed, headers: { cookie } }), 'validation_failed', [
        '/confirmed',
      ])
    assertUnauthenticated(await useLink(origin, `${origin}/console#sign-in=none`, { headers: { cookie } }))

    const used = signedIn(await useLink(origin, link, { confirmed: true, headers: { cookie } }))
    assertUnauthenticated(await whoIs({ cookie: testing.cookie }))
    for (const { cookie } of [own, used]) assert.equal((await whoIs({ cookie })).status, 200)
    assertUnauthenticated(await useLink(origin, link, { confirmed: true, headers: { cookie } }))
    // A cookie without a session is nobody.
    const wrong = { cookie: `ugs_session_customer=${'x'.repeat(43)}` }
    signedIn(await useLink(origin, await createLink(), { headers: wrong }))
  })
})
