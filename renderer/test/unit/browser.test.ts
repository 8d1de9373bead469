import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { keepSession, type HostSession } from '../../src/browser.ts'

const session = (name: string): HostSession => ({ token: name, expires_in_seconds: 900 })

/** The `document` of a page, whose visibility a test changes. */
class FakeDocument extends EventTarget {
  visibilityState = 'visible'
  listeners = 0

  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    this.listeners++
    super.addEventListener(...args)
  }

  override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
    this.listeners--
    super.removeEventListener(...args)
  }
}

/** Keeps a session of a host whose nth response is the nth outcome, and further ones the last. */
async function start(
  t: TestContext,
  outcomes: readonly (() => unknown)[],
  { random = 0.5, options = {} } = {},
) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.mock.method(Math, 'random', () => random)
  const page = new FakeDocument()
  Object.assign(globalThis, { document: page })
  t.after(() => Reflect.deleteProperty(globalThis, 'document'))
  const log: string[] = []
  const signals: AbortSignal[] = []
  const kept = keepSession({
    fetchSession: async (signal) => {
      const outcome = outcomes[Math.min(signals.push(signal), outcomes.length) - 1]
      return (await outcome?.()) as HostSession
    },
    onToken: (token) => log.push(token),
    onEnded: () => log.push('ended'),
    onError: (error) => log.push(`error ${error instanceof Error ? error.message : JSON.stringify(error)}`),
    ...options,
  })
  t.after(() => kept.stop())
  await setImmediate()
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await setImmediate()
  }
  const show = async (visibilityState: string) => {
    page.visibilityState = visibilityState
    page.dispatchEvent(new Event('visibilitychange'))
    await setImmediate()
  }
  /** The time passes without timers, as while the machine sleeps. */
  const sleep = (ms: number) => t.mock.timers.setTime(Date.now() + ms)
  return { kept, page, log, signals, pass, show, sleep }
}

function fails(error: unknown): () => Promise<never> {
  // Hosts reject with anything.
  const reason = error as Error
  return () => Promise.reject(reason)
}
const hangs = () => new Promise<never>(() => undefined)

describe('keepSession', () => {
  it('requests a session at once', async (t) => {
    const { log } = await start(t, [() => session('a')])
    assert.deepEqual(log, ['a'])
  })

  for (const [random, percent] of [
    [0, 70],
    [0.5, 75],
    [0.999, 79.99],
  ] as const) {
    it(`renews at ${percent} % of the lifetime`, async (t) => {
      const { log, pass } = await start(t, [() => session('a'), () => session('b'), () => session('c')], {
        random,
      })
      await pass(percent * 9000 - 1)
      assert.deepEqual(log, ['a'])
      await pass(1)
      assert.deepEqual(log, ['a', 'b'])
      await pass(percent * 9000)
      assert.deepEqual(log, ['a', 'b', 'c'])
    })
  }

  it('accepts what a client of TypeScript returns', async (t) => {
    const { log, pass } = await start(t, [() => ({ token: 'a', expiresInSeconds: 60 }), () => session('b')])
    await pass(45_000)
    assert.deepEqual(log, ['a', 'b'])
  })

  it('counts the lifetime from the request', async (t) => {
    let respond: (session: HostSession) => void = () => assert.fail()
    const slow = () => new Promise<HostSession>((resolve) => (respond = resolve))
    const { log, pass } = await start(t, [slow, () => session('b')])
    await pass(20_000)
    respond(session('a'))
    await pass(0)
    await pass(654_999)
    assert.deepEqual(log, ['a'])
    await pass(1)
    assert.deepEqual(log, ['a', 'b'])
  })

  it('renews when the page becomes visible, if it is overdue', async (t) => {
    const { log, show, sleep } = await start(t, [() => session('a'), () => session('b')])
    await show('hidden')
    await show('visible')
    assert.deepEqual(log, ['a'])
    sleep(674_999)
    await show('visible')
    assert.deepEqual(log, ['a'])
    sleep(1)
    await show('hidden')
    assert.deepEqual(log, ['a'])
    await show('visible')
    assert.deepEqual(log, ['a', 'b'])
  })

  it('sends one request at a time', async (t) => {
    const { signals, show, sleep } = await start(t, [() => session('a'), hangs])
    sleep(700_000)
    for (let i = 0; i < 3; i++) await show('visible')
    assert.equal(signals.length, 2)
  })

  it('sends no second request by the timer after one by the page', async (t) => {
    const { signals, pass, show, sleep } = await start(t, [() => session('a')])
    sleep(675_000)
    await show('visible')
    await pass(674_999)
    assert.equal(signals.length, 2)
  })

  it('waits from 1 to 30 seconds after failures', async (t) => {
    for (const [random, delays] of [
      [0, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
      [0.5, [1500, 3000, 6000, 12_000, 24_000, 30_000, 30_000]],
    ] as const)
      await t.test(`with the random number ${random}`, async (t) => {
        const { signals, pass, show } = await start(t, [fails(new TypeError('offline'))], { random })
        for (const [index, delay] of delays.entries()) {
          await pass(delay - 1)
          // Showing the page does not skip the pause.
          await show('visible')
          assert.equal(signals.length, index + 1)
          await pass(1)
          assert.equal(signals.length, index + 2)
        }
      })
  })

  it('starts again with a short pause after a success', async (t) => {
    const failing = fails(new TypeError('offline'))
    const { log, pass } = await start(
      t,
      [failing, failing, () => session('a'), failing, () => session('b')],
      { random: 0 },
    )
    await pass(1000)
    await pass(2000)
    assert.deepEqual(log.splice(0), ['error offline', 'error offline', 'a'])
    await pass(630_000)
    await pass(1000)
    assert.deepEqual(log, ['error offline', 'b'])
  })

  for (const status of [401, 403]) {
    it(`ends if the host answers ${status}`, async (t) => {
      const { log, page, signals, pass, show, sleep } = await start(t, [
        () => session('a'),
        fails({ status }),
      ])
      await pass(675_000)
      assert.deepEqual(log, ['a', 'ended'])
      sleep(10_000_000)
      await show('visible')
      await pass(10_000_000)
      assert.deepEqual([log, signals.length, page.listeners], [['a', 'ended'], 2, 0])
    })
  }

  for (const error of [{ status: 500 }, { status: 404 }, { status: '401' }, undefined, null, 'offline']) {
    it(`does not end after ${JSON.stringify(error)}`, async (t) => {
      const { log, pass } = await start(t, [fails(error), () => session('a')])
      await pass(1500)
      assert.deepEqual(log, [`error ${JSON.stringify(error)}`, 'a'])
    })
  }

  for (const response of [
    undefined,
    null,
    {},
    { token: 'a' },
    { token: 1, expires_in_seconds: 900 },
    { token: 'a', expires_in_seconds: 0 },
    { token: 'a', expires_in_seconds: 'x' },
  ]) {
    it(`refuses the session ${JSON.stringify(response)}`, async (t) => {
      const { log } = await start(t, [() => response])
      assert.equal(log.length, 1)
      assert.match(log[0] ?? '', /^error /)
    })
  }

  it('never requests more often than once a second', async (t) => {
    const { log, pass } = await start(t, [() => ({ token: 'a', expires_in_seconds: 0.001 })])
    await pass(999)
    assert.deepEqual(log, ['a'])
  })

  it('gives a request up after 30 seconds, and ignores its late response', async (t) => {
    let respond: (session: HostSession) => void = () => assert.fail()
    const slow = () => new Promise<HostSession>((resolve) => (respond = resolve))
    const { log, signals, pass } = await start(t, [slow, () => session('b')])
    await pass(30_000)
    assert.deepEqual([log, signals[0]?.aborted], [['error fetchSession took too long'], true])
    respond(session('a'))
    await pass(1500)
    assert.deepEqual(log, ['error fetchSession took too long', 'b'])
  })

  it('calls nothing after stop, which aborts the request', async (t) => {
    let respond: (session: HostSession) => void = () => assert.fail()
    const slow = () => new Promise<HostSession>((resolve) => (respond = resolve))
    const { kept, log, page, signals, pass, show, sleep } = await start(t, [() => session('a'), slow])
    await pass(675_000)
    kept.stop()
    assert.equal(page.listeners, 0)
    kept.stop()
    respond(session('b'))
    sleep(1_000_000)
    await show('visible')
    await pass(1_000_000)
    assert.deepEqual([log, signals.length, signals[1]?.aborted], [['a'], 2, true])
  })

  it('ends when a callback stops it', async (t) => {
    let stop: () => void = () => assert.fail()
    const { kept, signals, pass } = await start(t, [() => session('a'), fails('offline')], {
      options: { onError: () => stop() },
    })
    stop = kept.stop
    await pass(675_000)
    await pass(100_000)
    assert.equal(signals.length, 2)
  })

  it('works without the optional callbacks, and without a document', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    const tokens: string[] = []
    const outcomes = [fails('offline'), () => session('a'), fails({ status: 401 })]
    const { stop } = keepSession({
      fetchSession: async () => (await outcomes.shift()?.()) as HostSession,
      onToken: (token) => tokens.push(token),
    })
    for (const ms of [0, 2000, 900_000]) {
      await setImmediate()
      t.mock.timers.tick(ms)
    }
    await setImmediate()
    stop()
    assert.deepEqual([tokens, outcomes], [['a'], []])
  })
})
