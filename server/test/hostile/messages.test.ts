import { after } from 'node:test'
import { startService } from '../support/service.ts'
import {
  bodyOf,
  linesOf,
  rawRequest,
  refused,
  refusedAlone,
  taken,
  testRawCases,
  type RawCase,
} from './raw-cases.ts'

// Request lines and headers that are odd, ambiguous, oversized or not HTTP/1.1. See also http/server/protocol-errors.test.ts.

const service = await startService({ after })
const token = service.tokens.Testing
const [, ...headers] = linesOf(token)
const body = bodyOf('message')
const framing = `Content-Length: ${body.length}`
const withLine = (line: string) => rawRequest([line, ...headers, framing], body)
const withTarget = (target: string) => withLine(`GET ${target} HTTP/1.1`)
const withHeaders = (...more: string[]) =>
  rawRequest(['GET /api/user HTTP/1.1', ...headers, framing, ...more], body)
const withHost = (...hosts: string[]) =>
  rawRequest(['GET /api/user HTTP/1.1', ...hosts, ...headers.slice(1), framing], body)
const withNewLine = (newLine: string) =>
  rawRequest(['GET /api/user HTTP/1.1', ...headers, framing], body, newLine)

testRawCases(service, {
  'HTTP/0.9': refused('GET /healthz\r\n\r\n'),
  'HTTP/0.9 by its name': refused(withLine('GET /api/user HTTP/0.9')),
  'HTTP/1.0 that does not ask to go on': {
    sent: withLine('GET /api/user HTTP/1.0'),
    responses: ['success'],
    then: 'closed',
  },
  'HTTP/1.2': refused(withLine('GET /api/user HTTP/1.2')),
  'HTTP/2.0': refused(withLine('GET /api/user HTTP/2.0')),
  'HTTP/2.0 that would go on': refused(
    rawRequest(['GET /api/user HTTP/2.0', ...headers, 'Connection: keep-alive', framing], body),
  ),
  'HTTP/11': refused(withLine('GET /api/user HTTP/11')),
  'http/1.1': refused(withLine('GET /api/user http/1.1')),
  // Node's parser does not distinguish it.
  'RTSP/1.0, which is read as HTTP/1.0': {
    sent: withLine('GET /api/user RTSP/1.0'),
    responses: ['success'],
    then: 'closed',
  },
  'the preface of HTTP/2 and its first frame': refused(
    Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      Buffer.from('000000040000000000', 'hex'),
    ]),
  ),
  'a client hello of TLS 1.3': refused(
    Buffer.from(`1603010064010000600303${'5a'.repeat(32)}00000213010100003500`, 'hex'),
  ),
  'no version': refused(withLine('GET /api/user')),
  'no target': refused(withLine('GET HTTP/1.1')),
  'an empty target': refused(withLine('GET  HTTP/1.1')),
  'two spaces before the target': taken(withLine('GET  /api/user HTTP/1.1')),
  'tabs for spaces': refused(withLine('GET\t/api/user\tHTTP/1.1')),
  'a space after the version': refused(withLine('GET /api/user HTTP/1.1 ')),
  'a space before the method': refused(withLine(' GET /api/user HTTP/1.1')),
  'an empty line before it': taken(Buffer.concat([Buffer.from('\r\n\r\n'), withHeaders()])),
  'a method in small letters': refused(withLine('get /api/user HTTP/1.1'), 'method_not_allowed'),
  'a method that there is not': refused(withLine('FOO /api/user HTTP/1.1'), 'method_not_allowed'),
  'a method with a bracket': refused(withLine('G(T /api/user HTTP/1.1')),
  'lines that end with LF': refused(withNewLine('\n')),
  'lines that end with CR': refused(withNewLine('\r')),
  'a request line that ends with LF': refused(withLine('GET /api/user HTTP/1.1\nX-Header: a')),
  'headers that end with LF': refused(`${String(withHeaders()).slice(0, -body.length - 2)}\n${body}`),
  'headers that end with CR': refused(`${String(withHeaders()).slice(0, -body.length - 2)}\r${body}`),
})

testRawCases(service, {
  'an absolute form': taken(withTarget('http://localhost/api/user')),
  'an absolute form of another host': taken(withTarget('http://example.com:99/api/user')),
  'an absolute form in capitals': taken(withTarget('HTTP://LOCALHOST/api/user')),
  'an absolute form with https': taken(withTarget('https://localhost/api/user?a=b')),
  'an absolute form of no path': refusedAlone(withTarget('http://localhost'), 'not_found'),
  'an absolute form of no host': refusedAlone(withTarget('http:///api/user'), 'malformed_request'),
  'an absolute form with a user': refusedAlone(
    withTarget('http://a:b@localhost/api/user'),
    'malformed_request',
  ),
  'an absolute form in an absolute form': refusedAlone(
    withTarget('http://localhost/http://localhost/api/user'),
    'not_found',
  ),
  'an absolute form of another scheme': refusedAlone(withTarget('ftp://localhost/api/user'), 'not_found'),
  'an authority form': refused(withTarget('localhost:80')),
  CONNECT: refused(rawRequest(['CONNECT localhost:80 HTTP/1.1', ...headers]), 'method_not_allowed'),
  'an asterisk form': refusedAlone(rawRequest(['OPTIONS * HTTP/1.1', ...headers]), 'not_found'),
  'an asterisk for GET': refusedAlone(withTarget('*'), 'not_found'),
  TRACE: refusedAlone(rawRequest(['TRACE /api/user HTTP/1.1', ...headers]), 'method_not_allowed'),
  'a fragment': refusedAlone(withTarget('/api/user#a'), 'malformed_request'),
  'a query': taken(withTarget('/api/user?user_group_id=another&a=%00')),
  'a letter that is escaped': taken(withTarget('/%61pi/user')),
  'a slash that is escaped': refusedAlone(withTarget('/api%2fuser'), 'not_found'),
  'an escape that is none': refusedAlone(withTarget('/api/user%zz'), 'malformed_request'),
  'an escape that is not UTF-8': refusedAlone(withTarget('/api/user%ff'), 'malformed_request'),
  'a NUL that is escaped': refusedAlone(withTarget('/api/user%00'), 'not_found'),
  'a NUL': refused(withTarget('/api/user\0')),
  'a control character': refused(withTarget('/api/user\x01')),
  'a letter of Latin-1': refused(withTarget('/api/us\xe9r')),
  backslashes: refused(withTarget('\\api\\user')),
  dots: refusedAlone(withTarget('/docs/../api/user'), 'not_found'),
  'two slashes': refusedAlone(withTarget('//api/user'), 'not_found'),
  'a path parameter': refusedAlone(withTarget('/api/user;a=b'), 'not_found'),
  'another case': refusedAlone(withTarget('/API/user'), 'not_found'),
})

const refusedHosts = ['a b', 'a/b', 'a, b', 'a,\tb', 'user@localhost', 'http://localhost', 'a:b', '[::1', '::1', '<a>', '\xe9', 'a?b', 'a#b', '%zz', 'a\\b', '"a"'] // prettier-ignore
const takenHosts = ['', 'localhost', 'LOCALHOST:80', 'localhost:', '127.0.0.1:8080', '[::1]:8080', 'a_b.example', 'xn--e1afmkfd.example.', 'a%20b'] // prettier-ignore
const hostCases = (hosts: readonly string[], caseOf: (sent: Buffer) => RawCase) =>
  Object.fromEntries(
    hosts.map((host): [string, RawCase] => [
      `the host ${JSON.stringify(host)}`,
      caseOf(withHost(`Host: ${host}`)),
    ]),
  )
const malformed = (sent: Buffer) => refusedAlone(sent, 'malformed_request')
testRawCases(service, {
  ...hostCases(refusedHosts, malformed),
  ...hostCases(takenHosts, taken),
  'no host': malformed(withHost()),
  'two hosts': malformed(withHost('Host: localhost', 'Host: example.com')),
  'two equal hosts': malformed(withHost('Host: localhost', 'HOST: localhost')),
  'a host with a space before the colon': refused(withHost('Host : localhost')),
  'no host in an absolute form': malformed(
    rawRequest(['GET http://localhost/api/user HTTP/1.1', ...headers.slice(1), framing], body),
  ),
})

testRawCases(service, {
  'two API tokens': malformed(withHeaders('Authorization: Token another')),
  'the same API token twice': malformed(withHeaders(headers[1] as string)),
  'two types': malformed(withHeaders('Content-Type: text/plain')),
  'the same type twice': malformed(withHeaders('content-type: application/json')),
  'headers of proxies that name another path, method or host': taken(
    withHeaders(
      'X-Original-URL: /nothing',
      'X-HTTP-Method: DELETE',
      'X-Forwarded-Host: example.com',
      'Forwarded: host=a',
    ),
  ),
  'a Connection that names other headers': taken(
    withHeaders('Connection: Authorization, Content-Length, Host'),
  ),
  'an empty header name': refused(withHeaders(': a')),
  'a header name with brackets': refused(withHeaders('X(a): b')),
  'a header name of Latin-1': refused(withHeaders('X-\xe9: a')),
  'a NUL in a header name': refused(withHeaders('X\0: a')),
  'a control character in a header': refused(withHeaders('X: a\x01b')),
  'DEL in a header': refused(withHeaders('X: a\x7fb')),
  'a header of Latin-1': taken(withHeaders('X: \xe9\xff')),
  'a header of UTF-8': taken(withHeaders(`X: ${Buffer.from('é😀').toString('latin1')}`)),
  'headers of Object.prototype': taken(
    withHeaders('__proto__: a', 'constructor: b', 'toString: c', 'hasOwnProperty: d'),
  ),
  'as many headers as fit': taken(withHeaders(...Array<string>(2500).fill('a:b'))),
  'more headers than fit': refused(withHeaders(...Array<string>(8200).fill('a:b')), 'headers_too_large'),
  'one header that fits': taken(withHeaders(`X: ${'x'.repeat(16_000)}`)),
  'one header that does not': refused(withHeaders(`X: ${'x'.repeat(16_384)}`), 'headers_too_large'),
  'spaces before a value, which do not count': taken(withHeaders(`X:${' '.repeat(100_000)}x`)),
  'a cookie again and again': refused(
    withHeaders(...Array<string>(2000).fill('Cookie: a=b')),
    'headers_too_large',
  ),
  'a name that does not fit': refused(withHeaders(`${'x'.repeat(17_000)}: a`), 'headers_too_large'),
})

const offers: Record<string, string[]> = {
  h2c: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
  websocket: [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAA',
  ],
  TLS: ['Connection: keep-alive, upgrade', 'Upgrade: TLS/1.2, HTTP/1.1'],
}
testRawCases(service, {
  ...Object.fromEntries(
    Object.entries(offers).map(([title, lines]): [string, RawCase] => [
      `an offer of ${title}, with others at once`,
      {
        sent: Buffer.concat([withHeaders(), withHeaders(...lines), withHeaders(...lines), withHeaders()]),
        responses: ['success', 'success', 'success', 'success'],
        then: 'the next one gets a response',
      },
    ]),
  ),
  'an offer of h2c without a body': {
    sent: rawRequest(['GET /healthz HTTP/1.1', ...headers, ...(offers.h2c as string[])]),
    responses: [200],
    then: 'the next one gets a response',
  },
  'an offer of h2c and the preface of HTTP/2': {
    sent: Buffer.concat([
      rawRequest(['GET /api/user HTTP/1.1', ...headers, framing, ...(offers.h2c as string[])], body),
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    ]),
    responses: ['success', 'malformed_request'],
    then: 'closed',
  },
  'an expectation, with the body': {
    sent: withHeaders('Expect: 100-continue'),
    responses: [100, 'success'],
    then: 'the next one gets a response',
  },
  'an expectation in HTTP/1.0': {
    sent: rawRequest(['GET /api/user HTTP/1.0', ...headers, framing, 'Expect: 100-continue'], body),
    responses: ['success'],
    then: 'closed',
  },
  'two expectations': taken(withHeaders('Expect: a', 'Expect: b')),
  'an expectation of nothing': taken(withHeaders('Expect:')),
})
