import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { systemClock, type Clock } from '../../../src/domain/util/clock.ts'
import { LoadShedder } from '../../../src/http/server/load-shedder.ts'
import { RequestTracker, type CompletedRequest } from '../../../src/http/server/request-lifecycle.ts'
import type { Refusal } from '../../../src/http/server/protocol-errors.ts'
import type { HttpResponse } from '../../support/http.ts'
import { answerTo, RawConnection } from '../../support/raw-connection.ts'
import type { Scope } from '../../support/scope.ts'
import { assertFault } from '../../support/user-api.ts'

/** Keeps the event loop from all else. */
const work = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

/** A server on which each call is so much work. */
async function start(t: Scope, workMs: number, clock: Pick<Clock, 'monotonic'> = systemClock) {
  const handled: (string | undefined)[] = []
  const refused: Refusal[] = []
  const waited: (string | undefined)[] = []
  const ended: CompletedRequest[] = []
  const watch = new RequestTracker([{ end: (call) => ended.push(call) }], null)
  const server = createServer((request, response) => {
    handled.push(request.url)
    if (!request.url?.startsWith('/healthz')) work(workMs)
    response.end('{}')
  })
  server.keepAliveTimeout = 0
  let ids = 0
  new LoadShedder(server, {
    clock,
    nextRequestId: () => `id-${ids++}`,
    onRefused: (refusal) => {
      refused.push(refusal)
      watch.refused(refusal)
    },
    onWait: (request) => {
      waited.push(request.url)
      watch.waits(request)
    },
    onLeft: undefined,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
  const connections = await Promise.all(Array.from({ length: 400 }, () => RawConnection.open(origin)))
  t.after(() => connections.forEach((connection) => connection.close()))
  /** One call on each connection at once. */
  const together = async (text = get) => {
    const responses: HttpResponse[] = []
    await Promise.all(
      connections.map(async (connection, i) =>
        responses.push(await connection.send(text(`/${i}`)).response()),
      ),
    )
    return responses
  }
  const health = () => answerTo(origin, get('/healthz'))
  const alone = () => answerTo(origin, get('/alone'))
  return { server, origin, connections, get, together, health, alone, handled, refused, waited, ended }
}

describe('more calls than can be answered soon', () => {
  it('are answered in part, and the others told when to come again', async (t) => {
    const { together, refused, handled, waited } = await start(t, 4)
    // Connections come in one after another.
    await together()
    handled.length = refused.length = waited.length = 0
    const answers = await together()
    const [good, bad] = [
      answers.filter(({ status }) => status === 200),
      answers.filter(({ status }) => status !== 200),
    ]
    assert.equal(good.length, handled.length)
    assert.equal(bad.length, refused.length)
    // 256 wait at the least, and 400 would wait for more than a second.
    assert.ok(good.length >= 256, String(good.length))
    assert.ok(bad.length > 0)
    for (const answer of bad) {
      assertFault(answer, 'unavailable')
      assert.equal(answer.headers['retry-after'], '1')
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert.equal(answer.headers['content-type'], 'application/json')
    }
    const ids = bad.map(({ headers }) => headers['x-request-id'])
    assert.deepEqual(new Set(refused.map(({ requestId }) => requestId)), new Set(ids))
    assert.deepEqual(
      new Set(refused.map(({ status, code }) => `${status} ${code}`)),
      new Set(['503 unavailable']),
    )
    assert.ok(waited.length >= bad.length && waited.length <= answers.length)
    assert.deepEqual(
      refused.map(({ request }) => request?.url).filter((url) => !waited.includes(url)),
      [],
    )
  })

  it('are told of where they are refused, with how long they waited for that', async (t) => {
    const { together, ended } = await start(t, 4)
    const answers = [...(await together()), ...(await together())]
    const ids = answers.flatMap(({ status, headers }) => (status === 503 ? [headers['x-request-id']] : []))
    assert.ok(ids.length > 0)
    assert.deepEqual(new Set(ended.map(({ requestId }) => requestId)), new Set(ids))
    for (const { method, path, status, code, duration, isCutOff } of ended) {
      assert.deepEqual([method, path, status, code, isCutOff], ['GET', null, 503, 'unavailable', false])
      assert.ok(duration !== null && duration >= 0, String(duration))
    }
    // Some wait for others to be taken on, each of which takes 4 ms.
    assert.ok(ended.some(({ duration }) => Number(duration) >= 4))
  })

  it('do not keep a load balancer from learning that the service is alive', async (t) => {
    const { together, health, handled } = await start(t, 4)
    await together()
    handled.length = 0
    const [probe] = await Promise.all([health(), together()])
    assert.equal(probe.status, 200)
    // Not behind those that came before it.
    assert.ok(handled.indexOf('/healthz') < handled.length - 1)
  })

  it('are forgotten as soon as they are answered', async (t) => {
    const { together, alone, refused } = await start(t, 4)
    await together()
    await together()
    refused.length = 0
    assert.equal((await alone()).status, 200)
    assert.deepEqual(refused, [])
  })

  it('leave nothing to be done behind a request whose end is in doubt', async (t) => {
    const { together } = await start(t, 4)
    await together()
    const inDoubt = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`
    const refused = (await together(inDoubt)).filter(({ status }) => status === 503)
    assert.ok(refused.length > 0)
    for (const { headers } of refused) assert.equal(headers.connection, 'close')
  })
})

describe('connections that come at once, while calls do', () => {
  /** How many calls were handled between the first and the last of 50, while 20 others make one call after another. */
  async function handledMeanwhile(t: Scope, clock: Pick<Clock, 'monotonic'>) {
    const { server, origin, connections, get, handled } = await start(t, 0, clock)
    const before: number[] = []
    const calls = connections.slice(0, 20).map(async (connection) => {
      while (before.length < 50) await connection.send(get('/call')).response()
    })
    while (handled.length < 200) await once(server, 'request')
    server.on('connection', () => before.push(handled.length))
    const opened = await Promise.all(Array.from({ length: 50 }, () => RawConnection.open(origin)))
    await Promise.all(calls)
    opened.forEach((connection) => connection.close())
    return (before.at(-1) as number) - (before[0] as number)
  }

  it('are accepted before any call is taken on', async (t) => {
    // At one time, since they are so for 50 ms.
    assert.equal(await handledMeanwhile(t, { monotonic: () => 1000 }), 0)
  })

  it('do not keep the calls waiting for as long as there are any', async (t) => {
    let now = 0
    assert.ok((await handledMeanwhile(t, { monotonic: () => (now += 0.5) })) > 0)
  })
})

it('calls that come one after another do not wait', async (t) => {
  const { alone, waited, refused } = await start(t, 0)
  for (let i = 0; i < 50; i++) assert.equal((await alone()).status, 200)
  assert.deepEqual([waited, refused], [[], []])
})

describe('what is counted until it is done', () => {
  const newAdmission = () =>
    new LoadShedder(createServer(), {
      clock: systemClock,
      nextRequestId: () => '',
      onRefused: undefined,
      onWait: undefined,
      onLeft: undefined,
    })

  it('a thousand calls, each once', () => {
    const loadShedder = newAdmission()
    const first = loadShedder.claim()
    assert.ok(first.begin() && first.begin())
    for (let i = 1; i < 1000; i++) assert.ok(loadShedder.claim().begin())
    assert.ok(!loadShedder.claim().begin())
    first.end()
    first.end()
    assert.ok(loadShedder.claim().begin())
    assert.ok(!loadShedder.claim().begin())
  })

  it('what is done at once, or later, or fails', async () => {
    const admission = newAdmission()
    const failure = new Error('as it should')
    for (let i = 0; i < 1000; i++) {
      assert.equal(
        admission.during(() => i),
        i,
      )
      assert.throws(() => admission.during(() => assert.fail(failure)), failure)
      assert.equal(await admission.during(() => Promise.resolve(i)), i)
      await assert.rejects(async () => admission.during(() => Promise.reject(failure)), failure)
    }
    assert.ok(admission.claim().begin())
  })

  it('64 MiB of bodies, however small their parts, and no small body', () => {
    const admission = newAdmission()
    const mebibyte = 1024 * 1024
    const claims = Array.from({ length: 64 }, () => admission.claim())
    for (const claim of claims) {
      for (let bytes = 0; bytes <= mebibyte; bytes += 1024) assert.ok(claim.hold(bytes))
    }
    assert.ok(!admission.claim().hold(17_000))
    assert.ok(admission.claim().hold(16_000))
    for (const claim of claims.slice(0, 1)) claim.end()
    assert.ok(admission.claim().hold(mebibyte))
    assert.ok(!admission.claim().hold(17_000))
  })
})
