import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { RepeatLimiter } from '../../src/domain/util/repeat-limiter.ts'
import { createLogger, readableLine } from '../../src/observability/logger.ts'

test('an access log without a reader drops lines and reports how many', async (t) => {
  const lines = 100_000
  const program = `
    import { writeSync } from 'node:fs'
    import { createAccessLogger } from ${JSON.stringify(new URL('../../dist/observability/logger.js', import.meta.url))}
    const running = setInterval(() => undefined, 1000)
    const { logger, close } = createAccessLogger({
      warn: async ({ lines }) => {
        writeSync(1, String(lines) + '\\n')
        clearInterval(running)
        await close()
      },
    })
    for (let i = 0; i < ${lines}; i++) logger.info({ text: 'x'.repeat(100) }, 'request')
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  t.after(() => child.kill('SIGKILL'))
  const [lost] = (await once(child.stdout, 'data')) as [Buffer]
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  await once(child, 'close')
  const written = log.match(/^\{.*"msg":"request"\}$/gm)?.length ?? 0
  assert.ok(written > 0)
  assert.equal(written + Number(lost), lines)
})

test('a repeated failure is logged once a second, with the number of suppressed lines', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: Record<string, unknown>[] = []
  const limiter = new RepeatLimiter()
  const logger = createLogger('info', {
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
    limiter,
  })
  const written = () =>
    lines.splice(0).map(({ msg, reason, n, suppressed }) => ({ msg, reason, n, suppressed }))
  const line = (msg: string, reason: string, n: number, suppressed?: number) => ({
    msg,
    reason,
    n,
    suppressed,
  })

  for (let n = 1; n <= 1000; n++) logger.error({ reason: 'full', n }, 'request failed')
  logger.error({ reason: 'locked', n: 1 }, 'request failed')
  logger.child({ x: 1 }).warn({ reason: 'full', n: 1 }, 'not written')
  logger.debug({ reason: 'full' }, 'below the level')
  assert.deepEqual(written(), [
    line('request failed', 'full', 1),
    line('request failed', 'locked', 1),
    line('not written', 'full', 1),
  ])
  t.mock.timers.tick(999)
  assert.deepEqual(written(), [])
  t.mock.timers.tick(1)
  assert.deepEqual(written(), [line('request failed', 'full', 1000, 998)])
  logger.error({ reason: 'full', n: 1001 }, 'request failed')
  assert.deepEqual(written(), [])
  t.mock.timers.tick(1000)
  assert.deepEqual(written(), [line('request failed', 'full', 1001)])
  t.mock.timers.tick(2000)
  logger.error({ reason: 'full', n: 1002 }, 'request failed')
  assert.deepEqual(written(), [line('request failed', 'full', 1002)])

  // Lines without a reason are events of their own.
  for (let n = 1; n <= 2; n++) logger.warn({ n }, 'disabled')
  assert.equal(written().length, 2)

  // A service that stops writes the last line, and nothing later.
  for (let n = 1003; n <= 1005; n++) logger.error({ reason: 'full', n }, 'request failed')
  assert.deepEqual(written(), [])
  limiter.close()
  assert.deepEqual(written(), [line('request failed', 'full', 1005, 2)])
  t.mock.timers.tick(2000)
  assert.deepEqual(written(), [])
})

test('a line of the log is readable on a terminal, and cannot control it', () => {
  const line = readableLine(
    '{"level":40,"time":0,"store":"/data/ugs.db","path":"/a\\u001b[2J\\u009b b","ms":1.5,"msg":"slow"}',
  )
  assert.equal(line, '00:00:00 warn slow store=/data/ugs.db path="/a\\u001b[2J? b" ms=1.5\n')
})
