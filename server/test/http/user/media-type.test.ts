import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sendRequest } from '../../support/http.ts'
import { responseTo, chunked, RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../../support/user-api.ts'

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)
const body = { user_group_id: 'known', name: 'Name' }
const currentToken = tokenIn(await api.get(body))

for (const type of [
  'application/json',
  'Application/JSON',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json; charset="utf-8"',
  'application/json ; Charset=utf-8',
  'application/json; profile=x; charset=utf-8',
  'application/json; v=1',
]) {
  test(`Content-Type may be ${type}`, async () => {
    const headers = { 'content-type': type }
    assertSuccess(await api.get(body, headers))
    assertSuccess(await api.put(body, headers))
    assertFault(await api.post({ current_token: 'unknown' }, headers), 'token_not_found')
  })
}

for (const type of [
  '',
  'json',
  'text/plain',
  'text/json',
  '*/*',
  'application/*',
  'application/jsonp',
  'application/json5',
  'application/x-json',
  'application/json-seq',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'text/plain; a=application/json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/json; charset="latin1"',
  'application/json; charset=us-ascii',
]) {
  test(`Content-Type ${JSON.stringify(type)} is 415 and changes nothing`, async () => {
    const headers = { 'content-type': type }
    const sent = { user_group_id: 'refused', name: 'Name' }
    const { message } = assertFault(await api.get(sent, headers), 'unsupported_media_type')
    assert.ok(message.endsWith(`but is ${type === '' ? 'missing' : JSON.stringify(type)}`), message)
    assertFault(await api.put(sent, headers), 'unsupported_media_type')
    assertFault(await api.post({ current_token: currentToken }, headers), 'unsupported_media_type')
    assertFault(await api.put({ user_group_id: 'refused' }), 'user_group_not_found')
    assert.equal(tokenIn(await api.get(body)), currentToken)
  })
}

test('a body without a Content-Type is 415', async () => {
  const text = JSON.stringify(body)
  for (const method of ['GET', 'POST', 'PUT']) {
    const head = `${method} /api/user HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token ${token}\r\n`
    const sized = `${head}Content-Length: ${text.length}\r\n\r\n${text}`
    assertFault(await responseTo(service.origin, sized), 'unsupported_media_type')
    const inChunks = `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(text)}`
    assertFault(await responseTo(service.origin, inChunks), 'unsupported_media_type')
  }
})

test('a 415 shows a bounded part of the received type, without tokens', async () => {
  const { message } = assertFault(
    await api.get(body, { 'content-type': `text/${token}; a=${'x'.repeat(1000)}` }),
    'unsupported_media_type',
  )
  assert.match(message, /but is "text\/\[token\]; a=x{10,90}…"$/)
})

test('a 415 shows only printable ASCII of the received type', async () => {
  const headers = { 'content-type': 'text/\x9b[31mplain\t\xe9' }
  const { message } = assertFault(await api.get(body, headers), 'unsupported_media_type')
  assert.match(message, /but is "text\/\?\[31mplain\?\?"$/)
})

for (const coding of ['identity', 'Identity']) {
  test(`Content-Encoding ${coding} is accepted`, async () => {
    const headers = { 'content-encoding': coding }
    assertSuccess(await api.get(body, headers))
    assertSuccess(await api.put(body, headers))
    assertFault(await api.post({ current_token: 'unknown' }, headers), 'token_not_found')
  })
}

for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'unknown']) {
  test(`Content-Encoding ${coding} is 415`, async () => {
    const headers = { 'content-encoding': coding }
    const { message } = assertFault(await api.get(body, headers), 'unsupported_media_type')
    assert.ok(message.includes(`"${coding}"`), message)
    assertFault(await api.put(body, headers), 'unsupported_media_type')
    const compressed = gzipSync(JSON.stringify({ current_token: currentToken }))
    assertFault(await api.post(compressed, headers), 'unsupported_media_type')
  })
}

for (const coding of ['chunked', 'Chunked', 'CHUNKED']) {
  test(`Transfer-Encoding ${coding} is accepted`, async () => {
    const text = JSON.stringify(body)
    const halves = chunked(text.slice(0, 10), text.slice(10))
    const headers = [`Transfer-Encoding: ${coding}`]
    const connection = await RawConnection.open(service.origin)
    for (const method of ['GET', 'PUT', 'GET']) {
      connection.send(requestText({ method, token, headers, body: halves }))
      assertSuccess(await connection.response())
    }
    connection.close()
  })
}

for (const coding of ['gzip, chunked', 'gzip', 'deflate', 'identity', 'chunked, identity', 'x-unknown']) {
  test(`Transfer-Encoding ${coding} is 501`, async () => {
    const request = requestText({
      method: 'PUT',
      token,
      headers: [`Transfer-Encoding: ${coding}`],
      body: chunked(JSON.stringify(body)),
    })
    assertFault(await responseTo(service.origin, request), 'not_implemented')
  })
}

const noBody: Record<string, string> = {
  'nothing at all': '',
  'Content-Type alone': 'Content-Type: application/json\r\n',
  'Content-Length 0': 'Content-Length: 0\r\n',
  'Content-Length 0 and Content-Type': 'Content-Length: 0\r\nContent-Type: application/json\r\n',
  'no chunk': 'Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n',
}
for (const [title, lines] of Object.entries(noBody)) {
  const head = (method: string) =>
    `${method} /api/user HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token ${token}\r\n${lines}\r\n` +
    (lines.startsWith('Transfer') ? chunked() : '')

  test(`a GET without a body (${title}) gets an error that explains the likely cause and the remedy`, async () => {
    const { message } = assertFault(await responseTo(service.origin, head('GET')), 'body_required')
    assert.match(message, /proxy/i)
    assert.match(message, /X-HTTP-Method-Override/)
  })

  test(`a POST or PUT without a body (${title}) gets body_required`, async () => {
    for (const method of ['POST', 'PUT']) {
      assertFault(await responseTo(service.origin, head(method)), 'body_required')
    }
  })
}

test('a connection stays usable after a request without a body', async () => {
  const connection = await RawConnection.open(service.origin)
  connection.send(requestText({ token }))
  assertFault(await connection.response(), 'body_required')
  connection.send(requestText({ token, body: JSON.stringify(body) }))
  assertSuccess(await connection.response())
  connection.close()
})

test('a client library that sends a GET without a body gets the same response', async () => {
  assertFault(await sendRequest(service.origin, { token }), 'body_required')
})
