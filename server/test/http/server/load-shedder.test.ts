import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { systemClock, type Clock } from '../../../src/domain/util/clock.ts'
import { connectStages } from '../../../src/http/pipeline.ts'
import { LoadShedder } from '../../../src/http/server/load-shedder.ts'
import type { CompletedRequest } from '../../../src/http/server/request-observer.ts'
import { RequestTracker } from '../../../src/http/server/request-tracker.ts'
import { validateRequests } from '../../../src/http/server/request-validation.ts'
import type { Stage } from '../../../src/http/server/stage.ts'
import type { HttpResponse } from '../../support/http.ts'
import { responseTo, RawConnection } from '../../support/raw-connection.ts'
import type { Scope } from '../../support/scope.ts'
import { assertFault } from '../../support/user-api.ts'

interface WorkClock extends Pick<Clock, 'monotonic'> {
  /** Lets `ms` pass. */
  readonly work: (ms: number) => void
}

/** Returns a clock that only work moves, so that the speed of this machine does not matter. */
function workClock(): WorkClock {
  let now = 0
  return { monotonic: () => now, work: (ms) => void (now += ms) }
}

/** The real time. Work blocks the event loop. */
const realTime: WorkClock = {
  monotonic: () => systemClock.monotonic(),
  work: (ms) => {
    const end = performance.now() + ms
    while (performance.now() < end);
  },
}

/** Starts a server whose last stage works for `workMs` per request. */
async function start(t: Scope, workMs: number, clock: WorkClock = workClock()) {
  const handled: (string | undefined)[] = []
  /** Ids of the requests that were not admitted at once. */
  const waited: string[] = []
  const ended: CompletedRequest[] = []
  const loadShedder = new LoadShedder(clock)
  const stages: Stage[] = [
    new RequestTracker([{ end: (request) => ended.push(request) }], false),
    validateRequests,
    {
      attach: (server) => loadShedder.attach(server),
      handle: (context, next) => {
        const admitted: string[] = []
        loadShedder.handle(context, (request) => {
          admitted.push(request.id)
          next(request)
        })
        if (admitted.length === 0) waited.push(context.id)
      },
    },
    {
      handle: ({ raw, response }) => {
        handled.push(raw.url)
        if (raw.url !== '/healthz') clock.work(workMs)
        response.end('{}')
      },
    },
  ]
  const server = createServer({ keepAliveTimeout: 0 })
  let ids = 0
  connectStages(server, stages, () => `id-${ids++}`)
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
  /** Sends a request on each connection at once. */
  const together = async (text = get) => {
    const responses: HttpResponse[] = []
    await Promise.all(
      connections.map(async (connection, i) =>
        responses.push(await connection.send(text(`/${i}`)).response()),
      ),
    )
    return responses
  }
  const health = () => responseTo(origin, get('/healthz'))
  const alone = () => responseTo(origin, get('/alone'))
  const refused = () => ended.filter(({ status }) => status !== 200)
  return { server, origin, connections, get, together, health, alone, handled, refused, waited, ended }
}

describe('more requests than the service can respond to soon', () => {
  it('get responses in part, and 503 with Retry-After otherwise', async (t) => {
    const { together, refused, handled, waited, ended } = await start(t, 4)
    // The first requests arrive one by one, as their connections are accepted.
    await together()
    handled.length = ended.length = waited.length = 0
    const responses = await together()
    const [good, bad] = [
      responses.filter(({ status }) => status === 200),
      responses.filter(({ status }) => status !== 200),
    ]
    assert.equal(good.length, handled.length)
    assert.equal(bad.length, refused().length)
    // At least 256 may wait, and 400 would wait for more than a second.
    assert.ok(good.length >= 256, String(good.length))
    assert.ok(bad.length > 0)
    for (const response of bad) {
      assertFault(response, 'unavailable')
      assert.equal(response.headers['retry-after'], '1')
      assert.equal(response.headers['cache-control'], 'no-store')
      assert.equal(response.headers['content-type'], 'application/json')
    }
    const ids = bad.map(({ headers }) => headers['x-request-id'])
    assert.deepEqual(new Set(refused().map(({ requestId }) => requestId)), new Set(ids))
    assert.deepEqual(
      new Set(refused().map(({ status, code }) => `${status} ${code}`)),
      new Set(['503 unavailable']),
    )
    assert.ok(waited.length >= bad.length && waited.length <= responses.length)
    assert.deepEqual(
      refused().filter(({ requestId }) => !waited.includes(requestId)),
      [],
    )
  })

  it('are reported when they are refused, with the time that they waited', async (t) => {
    const { together, refused } = await start(t, 4, realTime)
    const responses = [...(await together()), ...(await together())]
    const ids = responses.flatMap(({ status, headers }) => (status === 503 ? [headers['x-request-id']] : []))
    assert.ok(ids.length > 0)
    assert.deepEqual(new Set(refused().map(({ requestId }) => requestId)), new Set(ids))
    for (const { method, path, status, code, duration, isCutOff } of refused()) {
      assert.deepEqual([method, path, status, code, isCutOff], ['GET', null, 503, 'unavailable', false])
      assert.ok(duration !== null && duration >= 0, String(duration))
    }
    // Some wait while others are admitted, each of which takes 4 ms.
    assert.ok(refused().some(({ duration }) => Number(duration) >= 4))
  })

  it('do not delay health checks', async (t) => {
    const { together, health, handled } = await start(t, 4)
    await together()
    handled.length = 0
    const [probe] = await Promise.all([health(), together()])
    assert.equal(probe.status, 200)
    // It did not wait for the requests before it.
    assert.ok(handled.indexOf('/healthz') < handled.length - 1)
  })

  it('leave no limit behind once they have their responses', async (t) => {
    const { together, alone, refused, ended } = await start(t, 4)
    await together()
    await together()
    ended.length = 0
    assert.equal((await alone()).status, 200)
    assert.deepEqual(refused(), [])
  })

  it('close the connection after a request with ambiguous framing', async (t) => {
    const { together } = await start(t, 4)
    await together()
    const ambiguous = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`
    const refused = (await together(ambiguous)).filter(({ status }) => status === 503)
    assert.ok(refused.length > 0)
    for (const { headers } of refused) assert.equal(headers.connection, 'close')
  })
})

describe('connections that arrive together with requests', () => {
  /** Returns how many requests were handled between the first and the last of 50 new connections, while 20 others send requests. */
  async function handledMeanwhile(t: Scope, clock: Pick<Clock, 'monotonic'>) {
    const { server, origin, connections, get, handled } = await start(t, 0, {
      ...clock,
      work: () => undefined,
    })
    const before: number[] = []
    const requests = connections.slice(0, 20).map(async (connection) => {
      while (before.length < 50) await connection.send(get('/request')).response()
    })
    while (handled.length < 200) await once(server, 'request')
    server.on('connection', () => before.push(handled.length))
    const opened = await Promise.all(Array.from({ length: 50 }, () => RawConnection.open(origin)))
    await Promise.all(requests)
    opened.forEach((connection) => connection.close())
    return (before.at(-1) as number) - (before[0] as number)
  }

  it('are accepted before any request is admitted', async (t) => {
    // The clock is constant, because connections come first for 50 ms only.
    assert.equal(await handledMeanwhile(t, { monotonic: () => 1000 }), 0)
  })

  it('do not keep requests waiting until all are accepted', async (t) => {
    let now = 0
    assert.ok((await handledMeanwhile(t, { monotonic: () => (now += 0.5) })) > 0)
  })
})

it('admits requests that arrive one after another at once', async (t) => {
  const { alone, waited, refused } = await start(t, 0, realTime)
  for (let i = 0; i < 50; i++) assert.equal((await alone()).status, 200)
  assert.deepEqual([waited, refused()], [[], []])
})

describe('permits', () => {
  const newLoadShedder = () => new LoadShedder(systemClock)

  it('admit a thousand requests of one workspace, and count each once', () => {
    const loadShedder = newLoadShedder()
    const first = loadShedder.issuePermit()
    assert.ok(first.begin() && first.begin())
    for (let i = 1; i < 1000; i++) assert.ok(loadShedder.issuePermit().begin())
    assert.ok(!loadShedder.issuePermit().begin())
    first.release()
    first.release()
    assert.ok(loadShedder.issuePermit().begin())
    assert.ok(!loadShedder.issuePermit().begin())
  })

  it('count the requests of all', () => {
    const loadShedder = newLoadShedder()
    const permit = loadShedder.issuePermit()
    assert.equal(permit.requests, 1)
    loadShedder.issuePermit()
    assert.equal(permit.requests, 2)
  })

  it('are released after synchronous work, asynchronous work and errors', async () => {
    const loadShedder = newLoadShedder()
    const failure = new Error('expected')
    for (let i = 0; i < 1000; i++) {
      assert.equal(
        loadShedder.issuePermit().during(() => i),
        i,
      )
      assert.throws(() => loadShedder.issuePermit().during(() => assert.fail(failure)), failure)
      assert.equal(await loadShedder.issuePermit().during(() => Promise.resolve(i)), i)
      await assert.rejects(
        async () => loadShedder.issuePermit().during(() => Promise.reject(failure)),
        failure,
      )
    }
    assert.ok(loadShedder.issuePermit().begin())
  })

  it('limit the bodies of one workspace to 32 MiB, whatever the size of their parts, and ignore small bodies', () => {
    const loadShedder = newLoadShedder()
    const mebibyte = 1024 * 1024
    const permits = Array.from({ length: 32 }, () => loadShedder.issuePermit())
    for (const permit of permits) {
      for (let bytes = 0; bytes <= mebibyte; bytes += 1024) assert.ok(permit.reserve(bytes))
    }
    assert.ok(!loadShedder.issuePermit().reserve(17_000))
    assert.ok(loadShedder.issuePermit().reserve(16_000))
    for (const permit of permits.slice(0, 1)) permit.release()
    assert.ok(loadShedder.issuePermit().reserve(mebibyte))
    assert.ok(!loadShedder.issuePermit().reserve(17_000))
  })
})
