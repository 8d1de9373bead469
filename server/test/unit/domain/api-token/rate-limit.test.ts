import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { parseRateLimit } from '../../../../src/domain/api-token/rate-limit.ts'
import {
  RateLimiter,
  type UsageReport,
  type SharedUsage,
  usedUntil,
} from '../../../../src/domain/api-token/rate-limiter.ts'
import { cases } from '../../../support/cases.ts'

const tokenOf = (rateLimit: string | null = null, id = 1) => ({
  id,
  rateLimit: rateLimit === null ? null : parseRateLimit(rateLimit),
})

/** A limiter with a test clock. `allowed` returns how many of a number of requests it allows. */
function limiterOf(limit: string | null, time = { now: 0 }) {
  const limiter = new RateLimiter(limit === null ? null : parseRateLimit(limit), {
    monotonic: () => time.now,
  })
  const allowed = (requests: number, token = tokenOf()) =>
    Array.from({ length: requests }, () => limiter.take(token)).filter((one) => one?.isAllowed !== false)
      .length
  return { limiter, time, allowed }
}

/** A store that shares usage reports, for one API token and several processes. */
function sharedStore(time: { now: number }) {
  const booked = new Map<number, number>()
  return (usageReports: readonly UsageReport[]): Promise<SharedUsage[]> =>
    Promise.resolve(
      usageReports.map((report) => {
        const { apiTokenId } = report
        const after = usedUntil(booked.get(apiTokenId) ?? null, report, time.now)
        booked.set(apiTokenId, after)
        return { apiTokenId, aheadMs: after - time.now }
      }),
    )
}

describe('a rate limit as text', () => {
  const good = {
    '1': { perSecond: 1, burst: 2 },
    '500': { perSecond: 500, burst: 1000 },
    '500:500': { perSecond: 500, burst: 500 },
    '1000000:10000000': { perSecond: 1_000_000, burst: 10_000_000 },
  }
  for (const [text, limit] of Object.entries(good)) {
    it(`"${text}" is valid`, () => assert.deepEqual(parseRateLimit(text), limit))
  }
  for (const text of [
    '',
    '0',
    '-1',
    '1.5',
    '1e3',
    '01',
    '500:',
    ':5',
    '500:499',
    '1000001',
    '5:10000001',
    '5:6:7',
    ' 5',
  ]) {
    it(`"${text}" is invalid`, () => assert.throws(() => parseRateLimit(text), RangeError))
  }
})

test('allows a burst at once, then the rate, and after a pause the burst again', () => {
  const { time, allowed } = limiterOf('10:30')
  assert.equal(allowed(100), 30)
  time.now += 1000
  assert.equal(allowed(100), 10)
  time.now += 50
  assert.equal(allowed(100), 0)
  time.now += 50
  assert.equal(allowed(100), 1)
  time.now += 3_600_000
  assert.equal(allowed(100), 30)
})

test('does not count a refused request', () => {
  const { time, allowed } = limiterOf('10:10')
  assert.equal(allowed(10), 10)
  for (let i = 0; i < 10; i++) {
    time.now += 99
    assert.equal(allowed(5), i === 0 ? 0 : 1)
  }
})

test('returns the remaining requests and the time until more are available', () => {
  const { limiter, time } = limiterOf('10:30')
  const limit = { perSecond: 10, burst: 30 }
  const take = () => limiter.take(tokenOf())
  assert.deepEqual(take(), { limit, isAllowed: true, remaining: 29, fullInMs: 100, retryInMs: 0 })
  for (let i = 0; i < 29; i++) take()
  assert.deepEqual(take(), { limit, isAllowed: false, remaining: 0, fullInMs: 3000, retryInMs: 100 })
  time.now += 60
  assert.deepEqual(take(), { limit, isAllowed: false, remaining: 0, fullInMs: 2940, retryInMs: 40 })
})

test('limits each API token separately, by its own limit or the default', () => {
  const { allowed } = limiterOf('10:10')
  assert.deepEqual(
    [allowed(50), allowed(50, tokenOf('20:30', 2)), allowed(50, tokenOf(null, 3))],
    [10, 30, 10],
  )
  const unlimited = limiterOf(null)
  assert.deepEqual([unlimited.allowed(50), unlimited.allowed(50, tokenOf('20:30', 2))], [50, 30])
})

test('a changed limit applies from now on', () => {
  const { time, allowed } = limiterOf(null)
  assert.equal(allowed(5000, tokenOf('10:1000')), 1000)
  // The usage under the old limit costs at most one burst of the new one.
  assert.equal(allowed(5000, tokenOf('1000:2000')), 0)
  time.now += 1000
  assert.equal(allowed(5000, tokenOf('1000:2000')), 1000)
  time.now += 500
  assert.equal(allowed(5000, tokenOf('10:10')), 0)
  time.now += 1000
  assert.equal(allowed(5000, tokenOf('10:10')), 10)
})

test('requests that one process allows reduce the limit of the others', async () => {
  const time = { now: 0 }
  const reportUsage = sharedStore(time)
  const [a, b] = [limiterOf('10:100', time), limiterOf('10:100', time)]
  assert.equal(a.allowed(60), 60)
  await a.limiter.share(reportUsage)
  // A process receives the usage of the others when it reports its own.
  assert.equal(b.allowed(1), 1)
  await b.limiter.share(reportUsage)
  assert.equal(b.allowed(100), 39)
  await b.limiter.share(reportUsage)
  // Requests that arrived during the report are added to the result.
  const sharing = a.limiter.share(
    (usageReports) => (assert.equal(a.allowed(1), 1), reportUsage(usageReports)),
  )
  await sharing
  assert.equal(a.allowed(1), 1)
  await a.limiter.share(reportUsage)
  assert.equal(a.allowed(100), 0)
})

test('usage that could not be reported is reported the next time', async () => {
  const time = { now: 0 }
  const reportUsage = sharedStore(time)
  const [a, b] = [limiterOf('10:100', time), limiterOf('10:100', time)]
  assert.equal(a.allowed(60), 60)
  const failing = a.limiter.share(() => {
    assert.equal(a.allowed(20), 20)
    return Promise.reject(new Error('lost'))
  })
  await assert.rejects(failing, /lost/)
  assert.equal(b.allowed(1), 1)
  await a.limiter.share(reportUsage)
  await b.limiter.share(reportUsage)
  assert.equal(b.allowed(100), 19)
})

test('sends one report at a time', async () => {
  const { limiter, allowed } = limiterOf('10:100')
  let reportCount = 0
  let finish: (shared: SharedUsage[]) => void = () => undefined
  const reportUsage = () => {
    reportCount++
    return new Promise<SharedUsage[]>((resolve) => (finish = resolve))
  }
  allowed(5)
  const first = limiter.share(reportUsage)
  allowed(5)
  await limiter.share(reportUsage)
  assert.equal(reportCount, 1)
  finish([])
  await first
  const second = limiter.share(reportUsage)
  assert.equal(reportCount, 2)
  finish([])
  await second
})

test('usage from a long outage counts at most one burst', async () => {
  const time = { now: 0 }
  const { limiter, allowed } = limiterOf('10:20', time)
  for (let i = 0; i < 600; i++) {
    time.now += 1000
    assert.equal(allowed(10), 10)
    await assert.rejects(limiter.share(() => Promise.reject(new Error('lost'))))
  }
  let costMs = 0
  await limiter.share((usageReports) => {
    costMs = usageReports[0]?.costMs ?? 0
    return Promise.resolve([])
  })
  assert.equal(costMs, 4000)
})

test('light use is not reported immediately', async () => {
  const { limiter, time, allowed } = limiterOf('640:640')
  const reported: UsageReport[] = []
  const share = () => limiter.share((usageReports) => (reported.push(...usageReports), Promise.resolve([])))
  allowed(9)
  await share()
  assert.deepEqual(reported, [])
  time.now += 60_000
  allowed(1)
  await share()
  await share()
  assert.deepEqual(
    reported.map(({ costMs, fullMs }) => ({ costMs, fullMs })),
    [{ costMs: 10 * (1000 / 640), fullMs: 1000 }],
  )
})

const rate = fc.integer({ min: 1, max: 50 })
/** Up to 50 seconds of requests: far more than the reporting delay of about a second. */
const extraBursts = fc.integer({ min: 0, max: 2500 })
const event = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('requests' as const),
      by: fc.nat(3),
      count: fc.integer({ min: 1, max: 60 }),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ min: 1, max: 2500 }) }),
    weight: 3,
  },
)

test('all processes together allow at most the documented bound, and one process exactly its bucket', async () => {
  await fc.assert(
    fc.asyncProperty(
      rate,
      extraBursts,
      fc.integer({ min: 1, max: 4 }),
      fc.array(event, { maxLength: 60 }),
      async (perSecond, extraBurst, processes, events) => {
        const burst = perSecond + extraBurst
        const time = { now: 0 }
        const reportUsage = sharedStore(time)
        const all = Array.from({ length: processes }, () => limiterOf(`${perSecond}:${burst}`, time))
        const allowedRequests: { at: number; count: number }[] = []
        let bucket = burst
        let last = 0
        const advance = async (to: number) => {
          // Each process reports every second.
          for (let next = Math.floor(time.now / 1000) * 1000 + 1000; next <= to; next += 1000) {
            time.now = next
            for (const { limiter } of all) await limiter.share(reportUsage)
          }
          time.now = to
        }
        for (const one of events) {
          if (one.kind === 'pause') await advance(time.now + one.ms)
          else {
            const count = all[one.by % processes]?.allowed(one.count) ?? 0
            allowedRequests.push({ at: time.now, count })
            if (processes === 1) {
              bucket = Math.min(burst, bucket + ((time.now - last) * perSecond) / 1000)
              last = time.now
              assert.equal(count, Math.min(one.count, Math.floor(bucket + 1e-3)))
              bucket -= count
            }
          }
        }
        for (const [i, { at: from }] of allowedRequests.entries()) {
          let total = 0
          for (const { at, count } of allowedRequests.slice(i)) {
            total += count
            const bound = (perSecond * (at - from)) / 1000 + burst + (processes - 1) * (burst + perSecond)
            assert.ok(total <= bound + 1, `${total} > ${bound}`)
          }
        }
      },
    ),
    { numRuns: cases(500) },
  )
})
