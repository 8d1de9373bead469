import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Fault } from '../../../src/domain/fault.ts'
import { checkBodyHeaders, withBody } from '../../../src/http/request-body.ts'
import { createRequestIds, RequestContext } from '../../../src/http/request-context.ts'
import { Permit, SharedResources } from '../../../src/http/server/permit.ts'

const bodyLimit = 100
const shared = new SharedResources()
const newId = createRequestIds()

/** Answers with the text of the body, or the code of the fault. */
const server = createServer((raw, response) => {
  const context = new RequestContext(newId(), raw, response)
  context.permit = new Permit(shared)
  void (async () => {
    try {
      checkBodyHeaders(raw, 'application/json', bodyLimit)
      context.send(200, await withBody(context, bodyLimit, (body) => body.toString()))
    } catch (error) {
      context.send(400, error instanceof Fault ? error.code : 'no fault')
    }
  })()
})
before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
after(() => {
  server.closeAllConnections()
  server.close()
})

/** Sends the chunks one after the other and returns the text of the response. */
async function send(headers: RequestOptions['headers'], ...chunks: string[]): Promise<string> {
  const { port } = server.address() as AddressInfo
  const sent = request({ host: '127.0.0.1', port, method: 'PUT', agent: false, headers })
  sent.on('error', () => undefined)
  const arrived = once(sent, 'response')
  for (const chunk of chunks) {
    sent.write(chunk)
    await new Promise(setImmediate)
  }
  sent.end()
  const [response] = (await arrived) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

const json = { 'content-type': 'application/json' }
const full = '"'.padEnd(bodyLimit - 1, 'x') + '"'

const cases: [name: string, headers: Record<string, string | number>, chunks: string[], expected: string][] =
  [
    ['a body in one packet', { ...json, 'content-length': 2 }, ['{}'], '{}'],
    ['a body in parts', { ...json, 'content-length': 4 }, ['{"', '"}'], '{""}'],
    ['a body without a length', json, ['{', '}'], '{}'],
    ['a body of the maximum size', { ...json, 'content-length': bodyLimit }, [full], full],
    ['a body of the maximum size without a length', json, [full.slice(0, 50), full.slice(50)], full],
    [
      'a length above the limit',
      { ...json, 'content-length': bodyLimit + 1 },
      [`${full} `],
      'body_too_large',
    ],
    ['a body above the limit without a length', json, [full, ' '], 'body_too_large'],
    ['no body', { ...json, 'content-length': 0 }, [], 'body_required'],
    ['an empty body without a length', { ...json, 'transfer-encoding': 'chunked' }, [], 'body_required'],
    [
      'a compressed body',
      { ...json, 'content-encoding': 'gzip', 'content-length': 2 },
      ['{}'],
      'unsupported_media_type',
    ],
    [
      'another media type',
      { 'content-type': 'text/plain', 'content-length': 2 },
      ['{}'],
      'unsupported_media_type',
    ],
    [
      'another charset',
      { 'content-type': 'application/json; charset=latin1', 'content-length': 2 },
      ['{}'],
      'unsupported_media_type',
    ],
  ]
for (const [name, headers, chunks, expected] of cases)
  test(`${name}: ${expected.slice(0, 30)}`, async () => {
    assert.equal(await send(headers, ...chunks), expected)
    assert.equal(shared.inFlight.taken, 0)
  })

test('a client that leaves before the end of its body holds nothing', async () => {
  const { port } = server.address() as AddressInfo
  const headers = { ...json, 'content-length': 50_000 }
  const sent = request({ host: '127.0.0.1', port, method: 'PUT', agent: false, headers })
  sent.on('error', () => undefined)
  const arrived = once(server, 'request')
  sent.write('{')
  const [raw] = (await arrived) as [IncomingMessage]
  const closed = new Promise((resolve) => raw.once('close', resolve))
  sent.destroy()
  await closed
  assert.equal(shared.inFlight.taken, 0)
})
