import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { createServer } from 'node:http'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { keepNextTickFast } from '../../../../src/http/server/next-tick.ts'

it('an object of process.nextTick survives garbage collections', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const created: WeakRef<object>[] = []
  const hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (type === 'TickObject') created.push(new WeakRef(resource))
    },
  }).enable()
  const server = createServer()
  t.after(() => server.emit('close'))
  keepNextTickFast.attach(server)
  hook.disable()
  assert.equal(created.length, 1)
  await setImmediate()
  collectGarbage()
  assert.ok(created[0]?.deref())
})
