import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { readableLine } from '../../src/observability/logger.ts'

test('an access log without a reader drops lines and reports how many', async (t) => {
  const lines = 100_000
  const program = `
    import { writeSync } from 'node:fs'
    import { createAccessLogger } from ${JSON.stringify(new URL('../../src/observability/logger.ts', import.meta.url))}
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
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program])
  t.after(() => child.kill('SIGKILL'))
  const [lost] = (await once(child.stdout, 'data')) as [Buffer]
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  await once(child, 'close')
  const written = log.match(/^\{.*"msg":"request"\}$/gm)?.length ?? 0
  assert.ok(written > 0)
  assert.equal(written + Number(lost), lines)
})

test('a line of the log is readable on a terminal, and cannot control it', () => {
  const line = readableLine(
    '{"level":40,"time":0,"store":"/data/ugs.db","path":"/a\\u001b[2J\\u009b b","ms":1.5,"msg":"slow"}',
  )
  assert.equal(line, '00:00:00 warn slow store=/data/ugs.db path="/a\\u001b[2J? b" ms=1.5\n')
})
