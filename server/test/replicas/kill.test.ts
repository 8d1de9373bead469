import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startReplicas } from '../support/replicas.ts'
import { startNewProcess } from '../support/service.ts'
import { assertSuccess, tokenIn } from '../support/user-api.ts'

test('acknowledged changes survive kill -9 of a replica under load, and the other replica fails no request', async (t) => {
  const { all } = await startReplicas(t, 2, {}, startNewProcess)
  const [killed, other] = all
  /** Last acknowledged token of each user group, or undefined while a rotation is in flight. */
  const acknowledged = new Map<string, string | undefined>()
  let responses = 0

  /** Creates user groups and rotates their tokens until the replica is killed. */
  const load = async (prefix: string) => {
    for (let i = 0; ; i++) {
      const id = `${prefix}-${i}`
      const token = tokenIn(await killed.api.get({ user_group_id: id, name: 'Name' }))
      acknowledged.set(id, token)
      if (i % 2 === 1) {
        acknowledged.set(id, undefined)
        acknowledged.set(id, tokenIn(await killed.api.post({ current_token: token })))
      }
      if (++responses === 300) await killed.service.stop('SIGKILL')
    }
  }
  const loads = Promise.allSettled(Array.from({ length: 16 }, (_, i) => load(`load-${i}`)))

  const done = new AbortController()
  const otherLoad = (async () => {
    for (let i = 0; !done.signal.aborted; i++) {
      assertSuccess(await other.api.get({ user_group_id: `other-${i}`, name: 'Name' }))
    }
  })()
  for (const { status } of await loads) assert.equal(status, 'rejected')
  done.abort()
  await otherLoad

  assert.ok(acknowledged.size >= 300)
  for (const [id, token] of acknowledged) {
    const found = assertSuccess(await other.api.get({ user_group_id: id, name: 'Name' }))
    assert.equal(found.new_user_group, false, id)
    if (token !== undefined) assert.equal(found.user_group.token, token, id)
    // The killed replica left no lock.
    assertSuccess(await other.api.post({ current_token: found.user_group.token }))
  }
})
