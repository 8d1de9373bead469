import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { requirePackage } from '../../../../scripts/install-packages.js'
import { parseRoles } from '../../../src/domain/person/roles.ts'
import { systemClock } from '../../../src/domain/util/clock.ts'
import { startApp } from '../../support/app.ts'
import { sessionPath } from '../../support/console.ts'
import { sendRequest } from '../../support/http.ts'

// The npm package oidc-provider is a certified OpenID Connect provider.
const { Provider } = requirePackage('tools/checks', 'oidc-provider') as {
  Provider: new (issuer: string, configuration: object) => { callback: () => RequestListener }
}

const client = { clientId: 'console', clientSecret: 'secret-of-the-console' }
const publicUrl = 'https://ugs.example.com'
const callbackPath = '/console/oidc/callback'

const people: Record<string, object> = {
  ada: { name: 'Ada', email: 'ada@example.com', email_verified: true, groups: ['staff', 'support'] },
  bob: { name: 'Bob', email: 'bob@example.com', email_verified: false, groups: 'admins' },
  eve: { name: 'Eve' },
}
const issuer = await startProvider()
const rules = [
  { value: 'support', workspace: 'default', environments: ['Customer'], role: 'support' },
  { value: 'admins', workspace: 'default', environments: ['Customer', 'Testing'], role: 'admin' },
]
const scope = 'openid profile email groups'
const roles = parseRoles(JSON.stringify({ claim: 'groups', scope, rules }))
const provider = { issuer, ...client, roles }
const { origin } = await startApp(
  { after },
  systemClock,
  null,
  {},
  {
    publicUrl,
    people: { provider, allowsTokenSignIn: false },
  },
)

async function startProvider(): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const configuration = {
    clients: [
      {
        ...{ client_id: client.clientId, client_secret: client.clientSecret },
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [publicUrl + callbackPath],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['key of the cookies'] },
    claims: { email: ['email', 'email_verified'], groups: ['groups'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people[accountId] }),
    }),
  }
  server.on('request', new Provider(issuer, configuration).callback())
  return issuer
}

/** Follows the pages of the provider as a browser does, and returns the path of the callback. */
async function passProvider(url: string, person: string | null): Promise<string> {
  const cookies = new Map<string, string>()
  const send = async (target: string, body?: URLSearchParams) => {
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ')
    const response = await fetch(new URL(target, issuer), {
      ...(body && { method: 'POST', body }),
      headers: { cookie },
      redirect: 'manual',
    })
    for (const [, name = '', value = ''] of response.headers
      .getSetCookie()
      .map((text) => /^([^=]+)=([^;]*)/.exec(text) ?? []))
      cookies.set(name, value)
    return response
  }
  for (let response = await send(url), prompt = 'login'; ;) {
    const location = response.headers.get('location') ?? assert.fail(await response.text())
    if (location.startsWith(publicUrl)) return location.slice(publicUrl.length)
    const isQuestion = location.includes('/interaction/')
    if (isQuestion && person === null) response = await send(`${location}/abort`)
    else if (isQuestion) {
      response = await send(location, new URLSearchParams({ prompt, login: person ?? '', password: 'x' }))
      prompt = 'consent'
    } else response = await send(location)
  }
}

async function signIn(person: string | null) {
  const started = await sendRequest(origin, { path: '/console/oidc/start' })
  assert.equal(started.status, 302, started.text)
  const [cookie = ''] = String(started.headers['set-cookie']).split(';')
  const path = await passProvider(String(started.headers.location), person)
  return { path, cookie, response: await sendRequest(origin, { path, headers: { cookie } }) }
}

async function sessionsOf(person: string) {
  const { response } = await signIn(person)
  assert.deepEqual(
    [response.status, response.headers.location],
    [302, '/console#environment=Customer.1'],
    response.text,
  )
  const cookie = [response.headers['set-cookie'] ?? []]
    .flat()
    .map((one) => one.split(';')[0])
    .join('; ')
  const { body } = await sendRequest(origin, { path: sessionPath, headers: { cookie } })
  return (body as { sessions: Record<string, unknown>[] }).sessions
}

test('people of oidc-provider sign in with the roles of their groups', async () => {
  const shown = (sessions: Awaited<ReturnType<typeof sessionsOf>>) =>
    sessions.map(({ person, role, api_environment_tag }) => [person, role, api_environment_tag])
  const ada = { id: 'ada', name: 'Ada', email: 'ada@example.com' }
  assert.deepEqual(shown(await sessionsOf('ada')), [[ada, 'support', 'Customer']])
  // The email is not verified.
  const bob = { id: 'bob', name: 'Bob', email: null }
  assert.deepEqual(shown(await sessionsOf('bob')), [
    [bob, 'admin', 'Customer'],
    [bob, 'admin', 'Testing'],
  ])
})

test('a person without groups gets a page that names the claim', async () => {
  const { response } = await signIn('eve')
  assert.equal(response.status, 403)
  assert.match(response.text, /no claim &#34;groups&#34;.*It has: sub/)
})

test('a code works once', async () => {
  const { path, cookie } = await signIn('ada')
  const replayed = await sendRequest(origin, { path, headers: { cookie } })
  assert.equal(replayed.status, 400)
  assert.match(replayed.text, /invalid_grant/)
})

test('a person who stops at the provider gets a page', async () => {
  const { response } = await signIn(null)
  assert.equal(response.status, 403)
  assert.match(response.text, /It says: access_denied/)
})
