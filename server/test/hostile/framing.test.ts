import { after, test } from 'node:test'
import { responsesTo, chunked } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'
import { assertFault, userApi } from '../support/user-api.ts'
import { bodyOf, linesOf, rawRequest, refused, taken, testRawCases, type RawCase } from './raw-cases.ts'

// The end of a request (RFC 9112, section 6). Ambiguous framing is refused, and nothing after it on the connection is a request.
// See also http/server/protocol-errors.test.ts.

const service = await startService({ after })
const lines = linesOf(service.tokens.Testing)
const body = bodyOf('framed')
const length = Buffer.byteLength(body)
const framed = (...headers: string[]) => rawRequest([...lines, ...headers], body)
const inChunks = (...headers: string[]) => rawRequest([...lines, ...headers], chunked(body))
const ofChunks = (chunks: string) => rawRequest([...lines, 'Transfer-Encoding: chunked'], chunks)
const oneChunk = (size: string, rest = '\r\n0\r\n\r\n') => ofChunks(`${size}\r\n${body}${rest}`)
const hex = length.toString(16)
const http10 = ['GET /api/user HTTP/1.0', ...lines.slice(1)]

testRawCases(service, {
  'a length with zeros before it': taken(framed(`Content-Length: 000${length}`)),
  'a length between tabs and spaces': taken(framed(`Content-Length:\t ${length} \t`.trimEnd())),
  'two equal lengths': refused(framed(`Content-Length: ${length}`, `Content-Length: ${length}`)),
  'two equal lengths in one': refused(framed(`Content-Length: ${length}, ${length}`)),
  'an empty length and a length': refused(framed('Content-Length: ', `Content-Length: ${length}`)),
  'a length and an empty length': refused(framed(`Content-Length: ${length}`, 'Content-Length: ')),
  'a length with a fraction': refused(framed(`Content-Length: ${length}.0`)),
  'a length with an exponent': refused(framed('Content-Length: 3e1')),
  'a length with a space in it': refused(framed('Content-Length: 3 6')),
  'a length with an underscore': refused(framed('Content-Length: 3_6')),
  'a length after a vertical tab': refused(framed(`Content-Length: \v${length}`)),
  'a length of digits that are not ASCII': refused(framed('Content-Length: \xb2')),
  'a length of 2 to the 64th and a bit': refused(framed(`Content-Length: ${2n ** 64n + BigInt(length)}`)),
  'a length under a name with an underscore': refused(
    framed(`Content_Length: ${length}`),
    'body_required',
    'malformed_request',
  ),
  'a length with a space before the colon': refused(framed(`Content-Length : ${length}`)),
  'a length behind a bare CR': refused(framed(`X-Header: a\rContent-Length: ${length}`)),
  'a length behind a bare LF': refused(framed(`X-Header: a\nContent-Length: ${length}`)),
  'a length and then chunks': refused(inChunks(`Content-Length: ${length}`, 'Transfer-Encoding: chunked')),
  'chunks and then a length': refused(inChunks('Transfer-Encoding: chunked', `Content-Length: ${length}`)),
  'a length and an unknown coding': refused(framed(`Content-Length: ${length}`, 'Transfer-Encoding: x')),
  'a length of zero and chunks': refused(inChunks('Content-Length: 0', 'Transfer-Encoding: chunked')),
})

const codings: Record<string, string[]> = {
  'a coding that only ends as chunked does': ['Transfer-Encoding: xchunked'],
  'a coding that only begins as chunked does': ['Transfer-Encoding: chunkedx'],
  'the coding in quotes': ['Transfer-Encoding: "chunked"'],
  'the coding with a parameter': ['Transfer-Encoding: chunked;a=b'],
  'the coding after a comma': ['Transfer-Encoding: ,chunked'],
  'the coding before a comma': ['Transfer-Encoding: chunked,'],
  'the coding twice': ['Transfer-Encoding: chunked, chunked'],
  'the coding on two lines': ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
  'the coding before another': ['Transfer-Encoding: chunked, gzip'],
  'the coding after another': ['Transfer-Encoding: gzip, chunked'],
  'the coding after identity': ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
  'the coding before identity': ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  'the coding and a tab': ['Transfer-Encoding: chunked\t'],
  'a letter of the coding that is not ASCII': ['Transfer-Encoding: chun\u00b5ed'],
  'a coding that is empty': ['Transfer-Encoding:'],
  'a coding that is empty, and a length': ['Transfer-Encoding:', `Content-Length: ${length}`],
}
testRawCases(service, {
  'the coding in capitals': taken(inChunks('TRANSFER-ENCODING: CHUNKED')),
  'the coding after a tab': taken(inChunks('Transfer-Encoding:\tchunked')),
  'the coding and a space': taken(inChunks('Transfer-Encoding: chunked ')),
  ...Object.fromEntries(
    Object.entries(codings).map(([title, headers]): [string, RawCase] => [
      title,
      refused(inChunks(...headers), 'not_implemented'),
    ]),
  ),
  'an unknown coding where no body is read': {
    sent: rawRequest(['GET /healthz HTTP/1.1', 'Host: localhost', 'Transfer-Encoding:']),
    responses: [200],
    then: 'closed',
  },
  'an unknown coding on a path that cannot be decoded': refused(
    rawRequest(['GET /%zz HTTP/1.1', ...lines.slice(1), 'Transfer-Encoding:']),
  ),
  'an unknown coding and no API token': refused(
    rawRequest([...lines.filter((line) => !line.startsWith('Authorization')), 'Transfer-Encoding:'], ''),
    'unauthenticated',
  ),
  'a length and a coding that is empty': refused(framed(`Content-Length: ${length}`, 'Transfer-Encoding: ')),
  'a name with a space before it': refused(inChunks(' Transfer-Encoding: chunked')),
  'the coding after a vertical tab': refused(inChunks('Transfer-Encoding: \vchunked')),
  'the coding on a line of its own': refused(inChunks('Transfer-Encoding:', ' chunked')),
  'the coding and a line that goes on': refused(inChunks('Transfer-Encoding: chunked', '\tx')),
  'a first header with a space before it': refused(
    rawRequest(
      [lines[0] as string, ' X-Header: a', ...lines.slice(1), 'Transfer-Encoding: chunked'],
      chunked(body),
    ),
  ),
  'a NUL in the name': refused(inChunks('Transfer-Encoding\0: chunked')),
  'chunks in HTTP/1.0': refused(rawRequest([...http10, 'Transfer-Encoding: chunked'], chunked(body))),
  'chunks in HTTP/1.0 that would go on': refused(
    rawRequest([...http10, 'Connection: keep-alive', 'Transfer-Encoding: chunked'], chunked(body)),
  ),
})

testRawCases(service, {
  'a chunk with an extension': taken(oneChunk(`${hex};a=b`)),
  'a chunk with a quoted extension': taken(oneChunk(`${hex};a="b;c"`)),
  'a size with zeros before it': taken(oneChunk(`${'0'.repeat(30)}${hex}`)),
  'a size in capitals': taken(oneChunk(hex.toUpperCase())),
  'a last chunk of many zeros': taken(oneChunk(hex, '\r\n0000\r\n\r\n')),
  'a chunk for each byte': taken(ofChunks(chunked(...Array.from(body)))),
  'a trailer': taken(oneChunk(hex, '\r\n0\r\nX-Trailer: a\r\n\r\n')),
  'a size that overflows': refused(oneChunk('1' + '0'.repeat(16))),
  'a size that wraps to the right one': refused(oneChunk(`1${hex.padStart(16, '0')}`)),
  'a size with a sign': refused(oneChunk(`+${hex}`)),
  'a negative size': refused(oneChunk(`-${hex}`)),
  'a size with a prefix': refused(oneChunk(`0x${hex}`)),
  'a size with a space before it': refused(oneChunk(` ${hex}`)),
  'a size with a space after it': refused(oneChunk(`${hex} `)),
  'a size with a tab after it': refused(oneChunk(`${hex}\t`)),
  'a size that is empty': refused(oneChunk('')),
  'a size that ends with LF': refused(ofChunks(`${hex}\n${body}\r\n0\r\n\r\n`)),
  'a size that ends with CR': refused(ofChunks(`${hex}\r${body}\r\n0\r\n\r\n`)),
  'a chunk that ends with LF': refused(oneChunk(hex, '\n0\r\n\r\n')),
  'a chunk that ends with something else': refused(oneChunk(hex, 'XX0\r\n\r\n')),
  'a last chunk that ends with LF': refused(oneChunk(hex, '\r\n0\n\n')),
  'a body that ends with LF': refused(oneChunk(hex, '\r\n0\r\n\n')),
  'an extension with LF in it': refused(oneChunk(`${hex};a\nb`)),
  'an extension with CR in it': refused(oneChunk(`${hex};a\rb`)),
  'an extension with NUL in it': refused(oneChunk(`${hex};a\0b`)),
  'an extension with a quoted end of line': refused(oneChunk(`${hex};a="\r\n"`)),
  'an extension with spaces': refused(oneChunk(`${hex} ; a = b`)),
  'extensions beyond the limit': refused(oneChunk(`${hex};${'a'.repeat(20_000)}`), 'body_too_large'),
  'a trailer with a length': refused(oneChunk(hex, '\r\n0\r\nContent-Length: 5\r\n\r\n')),
  'a trailer with a coding': refused(
    oneChunk(hex, '\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'),
    'not_implemented',
  ),
  'a trailer that ends with LF': refused(oneChunk(hex, '\r\n0\r\nX-Trailer: a\n\r\n')),
  'a trailer that goes on': refused(oneChunk(hex, '\r\n0\r\nX-Trailer: a\r\n b\r\n\r\n')),
  'a trailer beyond the limit': refused(
    oneChunk(hex, `\r\n0\r\nX-Trailer: ${'a'.repeat(20_000)}\r\n\r\n`),
    'headers_too_large',
  ),
  'trailers beyond the limit': refused(
    oneChunk(hex, `\r\n0\r\n${'X-Trailer: a\r\n'.repeat(2000)}\r\n`),
    'headers_too_large',
  ),
})

// Trailers are ignored.
const withoutAuthorization = lines.filter((line) => !line.startsWith('Authorization'))
const withoutHost = lines.filter((line) => !line.startsWith('Host'))
const withTrailer = (head: string[], trailer: string) =>
  rawRequest([...head, 'Transfer-Encoding: chunked'], `${hex}\r\n${body}\r\n0\r\n${trailer}\r\n\r\n`)
testRawCases(service, {
  'an API token in a trailer': {
    sent: withTrailer(withoutAuthorization, lines[2] as string),
    responses: ['unauthenticated'],
    then: 'closed',
  },
  'a host in a trailer': {
    sent: withTrailer(withoutHost, 'Host: localhost'),
    responses: ['malformed_request'],
    then: 'closed',
  },
})

test('a request within the body of one that is refused is never one', async () => {
  const api = userApi(service.origin, service.tokens.Testing)
  const hidden = rawRequest([...lines, `Content-Length: ${bodyOf('hidden').length}`], bodyOf('hidden'))
  for (const head of [
    [...lines, 'Transfer-Encoding:'],
    [...lines, 'Transfer-Encoding:', `Content-Length: ${hidden.length}`],
    [...http10, 'Connection: keep-alive', 'Transfer-Encoding:'],
    [...http10, 'Connection: keep-alive', 'Transfer-Encoding:', `Content-Length: ${hidden.length}`],
  ]) {
    await responsesTo(service.origin, Buffer.concat([rawRequest(head), hidden]))
    assertFault(await api.put({ user_group_id: 'hidden' }), 'user_group_not_found')
  }
})
