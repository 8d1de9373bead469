import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createApiToken } from '../../support/command.ts'
import { sendRequest } from '../../support/http.ts'
import {
  assertActive,
  assertInactive,
  assertOAuthFault,
  formType,
  sendIntrospection,
  introspectionPath,
  introspector,
} from '../../support/introspection.ts'
import { responseTo, chunked, RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertCommonHeaders, assertFault, tokenIn, userApi } from '../../support/user-api.ts'

const service = await startService({ after })
const apiToken = await createApiToken(service, 'Testing', '--scopes', 'introspect')
const api = userApi(service.origin, service.tokens.Testing)
const token = tokenIn(await api.get({ user_group_id: 'known', name: 'Name' }))
const introspect = introspector(service.origin, apiToken)

const send = (body: string | Buffer | undefined, headers: Record<string, string> = {}) =>
  sendIntrospection(service.origin, { token: apiToken, body, headers })

const percentEncoded = token.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`)

const active: Record<string, string> = {
  alone: `token=${token}`,
  'with the hint of an access token': `token=${token}&token_type_hint=access_token`,
  'with the hint of a refresh token, in front': `token_type_hint=refresh_token&token=${token}`,
  'with a hint of our own': `token=${token}&token_type_hint=user_group`,
  'with a hint that nobody knows': `token=${token}&token_type_hint=%00%ff+%F0%9F%98%80`,
  'with an empty hint': `token=${token}&token_type_hint=`,
  'with a hint without a value': `token=${token}&token_type_hint`,
  'with parameters that are not known': `client_id=a&token=${token}&resource=c&x`,
  'with such parameters twice': `a=1&token=${token}&a=2`,
  'with empty parameters': `&&token=${token}&=&=x&`,
  'with each character percent-encoded': `token=${percentEncoded}`,
  'with the name percent-encoded': `%74%6F%6b%65n=${token}`,
  'with its underscores percent-encoded': `token=${token.replaceAll('_', '%5F')}`,
  'with other names that are like it': `Token=x&TOKEN=x&token%20=x& token=x&tokens=x&token[]=x&token=${token}`,
  'next to bytes that are not UTF-8': `a=\xff&token=${token}&b=%ff`,
}
for (const [title, body] of Object.entries(active)) {
  test(`a token is read ${title}`, async () => {
    assert.equal(assertActive(await send(Buffer.from(body, 'latin1'))).sub, 'known')
  })
}

const inactive: Record<string, string> = {
  'with a plus, which is a space': `token=${token.replaceAll('_', '+')}`,
  'with a space after it': `token=${token}+`,
  'with a line feed after it': `token=${token}\r\n`,
  'percent-encoded twice': `token=${percentEncoded.replaceAll('%', '%25')}`,
  'with an equals sign': `token==${token}`,
  'with a semicolon, which divides nothing': `token=${token};token_type_hint=access_token`,
  'with a percent sign alone': `token=${token}%`,
}
for (const [title, body] of Object.entries(inactive)) {
  test(`a token sent ${title} is a different token`, async () => {
    assertInactive(await send(body))
  })
}

const refused: Record<string, { body: string; paths: string[] }> = {
  'no token': { body: 'token_type_hint=access_token', paths: ['token'] },
  'a token without a value': { body: 'token', paths: ['token'] },
  'an empty token': { body: 'token=&token_type_hint=access_token', paths: ['token'] },
  'the token under another name': { body: `access_token=${token}`, paths: ['token'] },
  'the token in capitals': { body: `TOKEN=${token}`, paths: ['token'] },
  'a form of nothing': { body: '&', paths: ['token'] },
  'two tokens': { body: `token=${token}&token=${token}`, paths: ['token'] },
  'two tokens, the first one another': { body: `token=x&token=${token}`, paths: ['token'] },
  'two tokens, one written otherwise': { body: `token=${token}&%74oken=${token}`, paths: ['token'] },
  'two client secrets': { body: `token=${token}&client_secret=&client_secret=`, paths: ['client_secret'] },
  'another client secret than in Authorization': {
    body: `token=${token}&client_secret=${apiToken}x`,
    paths: ['client_secret'],
  },
  'two hints': {
    body: `token=${token}&token_type_hint=access_token&token_type_hint=access_token`,
    paths: ['token_type_hint'],
  },
  'a JSON text': { body: JSON.stringify({ token }), paths: ['token'] },
}
for (const [title, { body, paths }] of Object.entries(refused)) {
  test(`a form with ${title} is 400 and names the problem`, async () => {
    const response = await send(body)
    assertOAuthFault(response, 'validation_failed', paths)
    assert.ok(!response.text.includes(token))
  })
}

test('query and other headers are ignored', async () => {
  for (const path of [`${introspectionPath}?token=${token}`, `${introspectionPath}/?token=${token}`]) {
    const response = await sendIntrospection(service.origin, { path, token: apiToken, body: 'a=b' })
    assertOAuthFault(response, 'validation_failed', ['token'])
    const both = await sendIntrospection(service.origin, { path, token: apiToken, body: 'token=other' })
    assertInactive(both)
  }
  const headers = { 'x-token': token, cookie: `token=${token}` }
  assertOAuthFault(await send('a=b', headers), 'validation_failed', ['token'])
})

for (const type of [
  formType,
  'Application/X-WWW-Form-URLencoded',
  `${formType};charset=utf-8`,
  `${formType}; charset=UTF-8`,
  `${formType}; charset="utf-8"`,
  `${formType} ; Charset=utf8`,
  `${formType}; v=1`,
]) {
  test(`Content-Type may be ${type}`, async () => {
    assertActive(await send(`token=${token}`, { 'content-type': type }))
  })
}

for (const type of [
  '',
  'application/json',
  'text/plain',
  '*/*',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded-x',
  `${formType}, text/plain`,
  `${formType}; charset=utf-16`,
  `${formType}; charset=iso-8859-1`,
]) {
  test(`Content-Type ${JSON.stringify(type)} is 415`, async () => {
    const body = type === 'application/json' ? JSON.stringify({ token }) : `token=${token}`
    const { message } = assertOAuthFault(await send(body, { 'content-type': type }), 'unsupported_media_type')
    assert.ok(message.includes(formType), message)
  })
}

/** Returns a request with only these headers. */
const bare = (lines: string[], body = '') =>
  responseTo(
    service.origin,
    `POST ${introspectionPath} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token ${apiToken}\r\n` +
      `${[...lines, '', ''].join('\r\n')}${body}`,
  )

test('a body without a Content-Type is 415', async () => {
  const body = `token=${token}`
  assertOAuthFault(await bare([`Content-Length: ${body.length}`], body), 'unsupported_media_type')
  assertOAuthFault(await bare(['Transfer-Encoding: chunked'], chunked(body)), 'unsupported_media_type')
})

test('Content-Encoding identity is accepted', async () => {
  assertActive(await send(`token=${token}`, { 'content-encoding': 'identity' }))
})

for (const coding of ['gzip', 'deflate', 'br']) {
  test(`Content-Encoding ${coding} is 415`, async () => {
    const headers = { 'content-encoding': coding }
    assertOAuthFault(await send(`token=${token}`, headers), 'unsupported_media_type')
    assertOAuthFault(await send(gzipSync(`token=${token}`), headers), 'unsupported_media_type')
  })
}

for (const [title, lines] of Object.entries({
  'nothing at all': [],
  'Content-Type alone': [`Content-Type: ${formType}`],
  'Content-Length 0': ['Content-Length: 0', `Content-Type: ${formType}`],
  'no chunk': ['Transfer-Encoding: chunked', `Content-Type: ${formType}`],
})) {
  test(`a request without a body (${title}) gets body_required`, async () => {
    const body = title === 'no chunk' ? chunked() : ''
    const { message } = assertOAuthFault(await bare(lines, body), 'body_required')
    assert.doesNotMatch(message, /GET/)
  })
}

test('a chunked body is read completely', async () => {
  const text = `token_type_hint=access_token&token=${token}`
  const chunks = chunked(...Array.from({ length: text.length }, (_, i) => text.charAt(i)))
  const headers = ['Transfer-Encoding: chunked', `Content-Type: ${formType}`]
  assertActive(await bare(headers, chunks))
})

test('another transfer coding is 501', async () => {
  const headers = ['Transfer-Encoding: gzip, chunked', `Content-Type: ${formType}`]
  assertOAuthFault(await bare(headers, chunked(`token=${token}`)), 'not_implemented')
})

const limit = 1024 * 1024
const padded = (bytes: number) => `token=${token}&padding=`.padEnd(bytes, 'x')

test('a body of 1 MiB is accepted', async () => {
  assertActive(await send(padded(limit)))
})

for (const bytes of [limit + 1, 4 * limit]) {
  test(`a body of ${bytes} bytes is 413, with and without chunks`, async () => {
    assertOAuthFault(await send(padded(bytes)), 'body_too_large')
    const headers = ['Transfer-Encoding: chunked', `Content-Type: ${formType}`]
    assertOAuthFault(await bare(headers, chunked(padded(bytes))), 'body_too_large')
  })
}

test('a percent-encoded name is read, and no longer name that contains it', async () => {
  assertActive(await send(`%74oken=${token}`))
  assertActive(await send(`t%6Fken=${token}&xtoken=a&token2=a&=token&token%32=a`))
  assertOAuthFault(await send(`token=${token}&%74%6f%6B%65%6e=x`), 'validation_failed', ['token'])
  assertOAuthFault(await send(`xtoken=${token}`), 'validation_failed', ['token'])
})

test('a token of 1 MiB is not active', async () => {
  for (const text of [`${token}${'x'.repeat(limit - 200)}`, `${token}${'+'.repeat(limit - 200)}`]) {
    const response = await send(`token=${text}`)
    assert.deepEqual(response.body, { active: false })
  }
})

test('many parameters are read in time', async () => {
  const many = 'a&'.repeat((limit - 100) / 2)
  assertActive(await send(`${many}token=${token}`))
  assertOAuthFault(await send('token=x&'.repeat(100_000)), 'validation_failed', ['token'])
  assertOAuthFault(await send('%'.repeat(limit)), 'validation_failed', ['token'])
})

for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
  test(`${method} is 405 with Allow`, async () => {
    const paths = [introspectionPath, `${introspectionPath}/`, `${introspectionPath}?token=${token}`]
    for (const path of paths) {
      for (const body of [`token=${token}`, undefined]) {
        const response = await sendIntrospection(service.origin, { method, path, token: apiToken, body })
        assertOAuthFault(response, 'method_not_allowed')
        assert.equal(response.headers.allow, 'POST')
      }
    }
  })
}

test('HEAD is 405 too, without a body', async () => {
  const request = requestText({ method: 'HEAD', path: introspectionPath, token: apiToken })
  const response = await responseTo(service.origin, request, 'HEAD')
  assert.deepEqual([response.status, response.headers.allow], [405, 'POST'])
  assertCommonHeaders(response)
})

test('an unknown method is 405 with Allow', async () => {
  for (const method of ['FETCH', 'post']) {
    const request = requestText({ method, path: introspectionPath, token: apiToken, body: `token=${token}` })
    const response = await responseTo(service.origin, request)
    assertFault(response, 'method_not_allowed')
    assert.equal(response.headers.allow, 'POST')
  }
})

test('the method override is ignored', async () => {
  for (const method of ['GET', 'PUT', 'DELETE']) {
    assertActive(await send(`token=${token}`, { 'x-http-method-override': method }))
  }
})

for (const path of [`${introspectionPath}/`, `${introspectionPath}?`, `${introspectionPath}/?token=x&a`]) {
  test(`${path} is the same path, without a redirect`, async () => {
    assertActive(await sendIntrospection(service.origin, { path, token: apiToken, body: `token=${token}` }))
  })
}

for (const path of ['/oauth2', '/oauth2/', '/oauth2/introspect/x', '/OAuth2/introspect', '/introspect']) {
  test(`${path} is 404`, async () => {
    for (const method of ['POST', 'GET']) {
      const body = `token=${token}`
      assertFault(
        await sendIntrospection(service.origin, { method, path, token: apiToken, body }),
        'not_found',
      )
    }
  })
}

test('requests over one connection get their responses in order', async () => {
  const connection = await RawConnection.open(service.origin)
  const headers = [`Content-Type: ${formType}`]
  const ask = (body: string) =>
    requestText({ method: 'POST', path: introspectionPath, token: apiToken, headers, body })
  connection.send(ask(`token=${token}`) + ask('token=x') + ask('a=b') + ask(`token=${token}`))
  assertActive(await connection.response())
  assertInactive(await connection.response())
  assertOAuthFault(await connection.response(), 'validation_failed', ['token'])
  assertActive(await connection.response())
  connection.close()
})

test('responses allow no access to pages of other origins', async () => {
  const headers = { origin: 'https://page.example' }
  assertCommonHeaders(await send(`token=${token}`, headers))
  const preflight = await sendRequest(service.origin, {
    ...{ method: 'OPTIONS', path: introspectionPath },
    headers: { ...headers, 'access-control-request-method': 'POST' },
  })
  assertOAuthFault(preflight, 'method_not_allowed')
})

test('simultaneous requests each get their own response', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 48 }, async (_, i) =>
      tokenIn(await api.get({ user_group_id: `at once ${i}`, name: `Name ${i}`, properties: { i } })),
    ),
  )
  const responses = await Promise.all([...tokens, ...tokens].map((each) => introspect(each)))
  responses.forEach((response, i) => {
    const { sub, properties } = assertActive(response)
    assert.deepEqual([sub, properties], [`at once ${i % 48}`, { i: i % 48 }])
  })
})
