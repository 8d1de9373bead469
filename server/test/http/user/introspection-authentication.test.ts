import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken, runCommand } from '../../support/command.ts'
import type { HttpResponse } from '../../support/http.ts'
import {
  assertActive,
  assertInactive,
  assertOAuthFault,
  basic,
  formType,
  sendIntrospection,
  introspectionPath,
  introspector,
} from '../../support/introspection.ts'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import { randomPartOf } from '../../support/secrets.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi, withoutRequestId } from '../../support/user-api.ts'

const service = await startService({ after }, { LOG_LEVEL: 'trace', UGS_ACCESS_LOG: 'full' })
const withScopes = (scopes: string) => createApiToken(service, 'Testing', '--scopes', scopes)
const apiToken = await withScopes('introspect')
const both = await withScopes('write,introspect')
const api = userApi(service.origin, service.tokens.Testing)
const token = tokenIn(await api.get({ user_group_id: 'known', name: 'Name' }))

const ask = (authorization?: string) =>
  sendIntrospection(service.origin, {
    headers: authorization === undefined ? {} : { authorization },
    body: `token=${token}`,
  })
const toUserApi = (authorization: string) =>
  userApi(service.origin).get({ user_group_id: 'known' }, { authorization })

function assertUnauthenticated(response: HttpResponse): void {
  assertOAuthFault(response, 'unauthenticated')
  assert.match(
    response.headers['www-authenticate'] ?? '',
    /^Token, Bearer.*, Basic realm="User Group Service"$/,
  )
}

const refusal = withoutRequestId(await ask())

const accepted: Record<string, (secret: string) => string> = {
  'as Token': (secret) => `Token ${secret}`,
  'as token': (secret) => `token ${secret}`,
  'as TOKEN': (secret) => `TOKEN ${secret}`,
  'as Bearer': (secret) => `Bearer ${secret}`,
  'as bearer': (secret) => `bearer ${secret}`,
  'as bEARER, with two spaces': (secret) => `bEARER  ${secret}`,
  'as Basic': (secret) => basic('renderer', secret),
  'as basic': (secret) => basic('renderer', secret).replace('Basic', 'basic'),
  'as BASIC': (secret) => basic('renderer', secret).replace('Basic', 'BASIC'),
  'as Basic, without a user name': (secret) => basic('', secret),
  'as Basic, with a user name that is no word': (secret) => basic('a b@c=d/é"\'\t', secret),
  'as Basic, with its own name': (secret) => basic('Basic', secret),
  'as Basic, with the API token for both': (secret) => basic(secret, secret),
  'as Basic, with another API token for the user name': (secret) => basic(both, secret),
  'as Basic, with a long user name': (secret) => basic('x'.repeat(5000), secret),
  'as Basic, with a user name in Latin-1': (secret) =>
    `Basic ${Buffer.from(`\xe9:${secret}`, 'latin1').toString('base64')}`,
  // RFC 6749, section 2.3.1: both are form-encoded first.
  'as Basic, percent-encoded': (secret) => basic('a%20b', secret.replaceAll('_', '%5F')),
}
for (const [how, write] of Object.entries(accepted)) {
  test(`an API token is accepted ${how}`, async () => {
    for (const secret of [apiToken, both]) {
      // The first request looks the token up, the second finds it in the cache.
      assert.equal(assertActive(await ask(write(secret))).sub, 'known')
      assert.equal(assertActive(await ask(write(secret))).sub, 'known')
    }
  })
}

const lastReplaced = apiToken.slice(0, -1) + (apiToken.endsWith('0') ? '1' : '0')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const refused: Record<string, string> = {
  'an empty value': '',
  'a scheme alone': 'Bearer',
  'a scheme and a space': 'Basic ',
  'the API token without a scheme': apiToken,
  'another scheme': `ApiKey ${apiToken}`,
  'a Digest': `Digest username="renderer", response="${apiToken}"`,
  'two schemes': `Bearer Token ${apiToken}`,
  'two API tokens': `Bearer ${apiToken}, Bearer ${apiToken}`,
  'quotation marks': `Bearer "${apiToken}"`,
  'a parameter': `Bearer token=${apiToken}`,
  'a user group token': `Bearer ${token}`,
  'a user group token as the password': basic('renderer', token),
  'a wrong checksum': `Bearer ${lastReplaced}`,
  'a wrong checksum as the password': basic('renderer', lastReplaced),
  'the prefix of the other environment': basic('renderer', apiToken.replace('testing', 'customer')),
  'the API token in base64, as a Bearer': `Bearer ${base64(apiToken)}`,
  'a Basic that is not base64': `Basic renderer:${apiToken}`,
  'a Basic of something that is not base64': 'Basic !!!!',
  'a Basic without a colon': `Basic ${base64(apiToken)}`,
  'a Basic with the API token as the user name': basic(apiToken, ''),
  'a Basic with the API token as the user name and another password': basic(apiToken, 'x'),
  'a Basic with a colon in the password, in front': basic('renderer', `:${apiToken}`),
  'a Basic with a colon in the password, at the end': basic('renderer', `${apiToken}:`),
  'a Basic with a colon in the password, in between': basic('renderer', `x:${apiToken}`),
  'a Basic with a space in the password': basic('renderer', ` ${apiToken}`),
  'a Basic with a line feed after it': basic('renderer', `${apiToken}\n`),
  'a Basic with a wrong password': basic('renderer', 'secret'),
  'a Basic without a password': basic('renderer', ''),
  'a Basic of nothing': basic('', ''),
  'a Basic that is cut off': basic('renderer', apiToken).slice(0, -8),
}
for (const [title, authorization] of Object.entries(refused)) {
  test(`Authorization with ${title} is 401, the same for all`, async () => {
    const response = await ask(authorization)
    assertUnauthenticated(response)
    assert.equal(withoutRequestId(response), refusal)
  })
}

test('a request without Authorization is 401 and lists the schemes', async () => {
  const response = await ask()
  assertUnauthenticated(response)
  const { message } = assertOAuthFault(response, 'unauthenticated')
  for (const scheme of ['Token', 'Bearer', 'Basic']) assert.ok(message.includes(`'${scheme}'`), message)
})

const challenge = (ofBearer: string) =>
  `Token, Bearer realm="User Group Service"${ofBearer}, Basic realm="User Group Service"`

test('the challenges follow their RFCs: a realm for Basic, and an error code for Bearer', async () => {
  assert.equal((await ask()).headers['www-authenticate'], challenge(''))
  for (const authorization of ['Bearer x', `Token ${lastReplaced}`, basic('renderer', 'x')]) {
    const response = await ask(authorization)
    assert.equal(response.headers['www-authenticate'], challenge(', error="invalid_token"'))
  }
  const forbidden = await ask(`Bearer ${service.tokens.Testing}`)
  assertOAuthFault(forbidden, 'forbidden')
  assert.equal(
    forbidden.headers['www-authenticate'],
    challenge(', error="insufficient_scope", scope="introspect"'),
  )
})

const inForm = (secret: string, more = '') =>
  sendIntrospection(service.origin, { body: `client_id=a&client_secret=${secret}&token=${token}${more}` })

test('an API token is accepted as the client secret in the form', async () => {
  for (const secret of [apiToken, both, apiToken.replaceAll('_', '%5F')]) {
    assert.equal(assertActive(await inForm(secret)).sub, 'known')
    assert.equal(assertActive(await inForm(secret, '&token_type_hint=access_token')).sub, 'known')
  }
  const withoutId = `token=${token}&client_secret=${apiToken}`
  assertActive(await sendIntrospection(service.origin, { body: withoutId }))
})

for (const [title, authorization] of Object.entries({
  Token: `Token ${apiToken}`,
  Bearer: `bearer ${apiToken}`,
  Basic: basic('renderer', apiToken),
})) {
  test(`the API token in the form besides ${title} is accepted if it is the same, and else 400`, async () => {
    const send = (secret: string) =>
      sendIntrospection(service.origin, {
        headers: { authorization },
        body: `client_id=a&token=${token}&${secret}`,
      })
    const same = ['client_secret=', `client_secret=${apiToken}`, `%63lient%5Fsecret=${apiToken}`]
    for (const secret of [...same, ...same]) assertActive(await send(secret))
    for (const other of [both, `${apiToken}x`, 'x', `+${apiToken}`])
      for (const name of ['client_secret', 'client%5fsecret'])
        assertOAuthFault(await send(`${name}=${other}`), 'validation_failed', ['client_secret'])
  })
}

test('a wrong client secret in the form is 401, also after a response was cached', async () => {
  for (let i = 0; i < 3; i++) assertActive(await inForm(apiToken))
  for (const secret of ['', 'x', lastReplaced, token, `+${apiToken}`, `${apiToken}+`, `Token+${apiToken}`]) {
    assertUnauthenticated(await inForm(secret))
  }
  assertOAuthFault(await inForm(service.tokens.Testing), 'forbidden')
})

test('the body of a stranger is not read beyond 16 KiB', async () => {
  assertActive(await inForm(apiToken, `&x=${'x'.repeat(15 * 1024)}`))
  assertUnauthenticated(await inForm(apiToken, `&x=${'x'.repeat(16 * 1024)}`))
})

test('an API token elsewhere in the form is ignored', async () => {
  for (const name of ['access_token', 'api_token', 'client_id']) {
    const body = `token=${token}&${name}=${apiToken}`
    assertUnauthenticated(await sendIntrospection(service.origin, { body }))
  }
})

test('authentication does not wait for the body', async () => {
  for (const headers of [['Content-Length: 1000'], ['Transfer-Encoding: chunked']]) {
    const request = {
      method: 'POST',
      path: introspectionPath,
      headers: [...headers, `Content-Type: ${formType}`],
    }
    assertUnauthenticated(await responseTo(service.origin, requestText({ ...request, token: 'x' })))
    const writer = service.tokens.Testing
    assertOAuthFault(
      await responseTo(service.origin, requestText({ ...request, token: writer })),
      'forbidden',
    )
  }
})

test('authentication comes before validation', async () => {
  for (const [body, headers] of [
    [undefined, {}],
    ['a=b', {}],
    ['{}', { 'content-type': 'application/json' }],
    ['token=x', { 'content-encoding': 'gzip' }],
    ['x'.repeat(2 * 1024 * 1024), {}],
  ] as const) {
    assertUnauthenticated(await sendIntrospection(service.origin, { body, headers }))
  }
})

for (const scopes of ['introspect', 'read,introspect', 'write,introspect', 'introspect,admin']) {
  test(`${scopes}: introspection is allowed`, async () => {
    const secret = await withScopes(scopes)
    for (const authorization of [`Token ${secret}`, `Bearer ${secret}`, basic('a', secret)]) {
      assertActive(await ask(authorization))
    }
  })
}

for (const scopes of ['write', 'read', 'admin', 'read,write,admin']) {
  test(`${scopes}: introspection is 403 for any token`, async () => {
    const secret = await withScopes(scopes)
    for (const authorization of [`Token ${secret}`, `Bearer ${secret}`, basic('a', secret)]) {
      for (const body of [`token=${token}`, 'token=x', 'a=b', '{']) {
        const response = await sendIntrospection(service.origin, { headers: { authorization }, body })
        const { message } = assertOAuthFault(response, 'forbidden')
        assert.match(message, /'introspect'/)
      }
    }
  })
}

test('/api/user accepts only the scheme Token, also for an API token that is cached with another scheme', async () => {
  for (const authorization of [`Bearer ${both}`, basic('renderer', both), `bearer ${both}`]) {
    for (let i = 0; i < 3; i++) {
      assertActive(await ask(authorization))
      const response = await toUserApi(authorization)
      assertFault(response, 'unauthenticated')
      assert.equal(response.headers['www-authenticate'], 'Token')
    }
  }
  assertSuccess(await toUserApi(`Token ${both}`))
  assertActive(await ask(`Token ${both}`))
})

test('an API token with only the scope introspect is 403 at /api/user, also if it is cached', async () => {
  assertActive(await ask(`Token ${apiToken}`))
  const caller = userApi(service.origin, apiToken)
  for (const response of [
    await caller.get({ user_group_id: 'known' }),
    await caller.put({ user_group_id: 'known' }),
    await caller.post({ current_token: token }),
  ]) {
    assertFault(response, 'forbidden')
  }
  assertActive(await ask(`Token ${apiToken}`))
})

test('a revoked API token is refused with every scheme, and others still work', async (t) => {
  // Without the cache, revocation is immediate.
  const uncached = await startService(t, { UGS_API_TOKEN_CACHE_MS: '0' })
  const writer = userApi(uncached.origin, uncached.tokens.Testing)
  const known = tokenIn(await writer.get({ user_group_id: 'known', name: 'Name' }))
  const json = await runCommand(
    uncached,
    ...['api-token', 'create', '--environment', 'Testing', '--name', 'x', '--scopes', 'introspect', '--json'],
  )
  const { id, token: secret } = JSON.parse(json) as { id: number; token: string }
  const ways = [`Token ${secret}`, `Bearer ${secret}`, basic('renderer', secret)]
  const askThere = (authorization: string) =>
    sendIntrospection(uncached.origin, { headers: { authorization }, body: `token=${known}` })
  for (const authorization of ways) assertActive(await askThere(authorization))
  await runCommand(uncached, 'api-token', 'revoke', String(id))
  for (const authorization of ways) assertUnauthenticated(await askThere(authorization))
  const other = await createApiToken(uncached, 'Testing', '--scopes', 'introspect')
  assertActive(await introspector(uncached.origin, other)(known))
})

test('no line of the log and no response contains a token, with any scheme', async () => {
  const inactive = token.replace('testing', 'customer')
  for (const authorization of Object.values(accepted).map((write) => write(both))) await ask(authorization)
  for (const authorization of Object.values(refused)) await ask(authorization)
  for (const body of [
    `token=${inactive}`,
    `token=${token}&token=${token}`,
    `${token}=${both}`,
    `token_type_hint=${token}&token_type_hint=${both}`,
  ]) {
    const response = await sendIntrospection(service.origin, { token: both, body })
    if (response.status === 200) assertInactive(response)
    for (const secret of [token, both]) assert.ok(!response.text.includes(secret.slice(-30)), response.text)
  }
  const path = `${introspectionPath}?token=${token}&access_token=${both}`
  await sendIntrospection(service.origin, { path, token: both, body: `token=${token}` })
  await sendIntrospection(service.origin, { path, method: 'GET', token: both })
  await service.logged('"operation":"introspect"')
  assert.equal(await service.stop(), 0)
  const log = service.stderr()
  assert.match(log, /"operation":"introspect".*"status":200/)
  for (const secret of [token, apiToken, both, inactive, service.tokens.Testing]) {
    const random = randomPartOf(secret)
    assert.ok(!log.includes(random.slice(0, 20)) && !log.includes(random.slice(-20)))
    const encoded = basic('renderer', secret).slice(20, -8)
    assert.ok(!log.includes(encoded))
  }
  assert.doesNotMatch(log, /ug[at]_(customer|testing)_|"stack"|SqliteError/)
})
