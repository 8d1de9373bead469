import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { anySignal } from '../../src/any-signal.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

it('a combined signal aborts with a signal that nothing else refers to', async () => {
  const combined = anySignal(anySignal(AbortSignal.timeout(50)), new AbortController().signal)
  let reason: unknown
  combined.addEventListener('abort', () => (reason = combined.reason as unknown))
  // A turn of the event loop keeps the objects of new weak references.
  await setImmediate()
  collectGarbage()
  // Timers fire in the order of their times, however late.
  await sleep(60)
  assert.equal((reason as Error).name, 'TimeoutError')
})
