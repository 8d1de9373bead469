import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startReplicas } from '../support/replicas.ts'
import { assertSuccess, tokenIn } from '../support/user-api.ts'

test('what a replica has acknowledged is there after kill -9 under load, and the other fails no call', async (t) => {
  const { all } = await startReplicas(t, 2)
  const [killed, other] = all
  /** The token of each user group, as it was last answered; undefined while a rotation is under way. */
  const acknowledged = new Map<string, string | undefined>()
  let responses = 0

  /** Creates user groups and rotates their tokens, until the replica is gone. */
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

  const over = new AbortController()
  const beside = (async () => {
    for (let i = 0; !over.signal.aborted; i++) {
      assertSuccess(await other.api.get({ user_group_id: `beside-${i}`, name: 'Name' }))
    }
  })()
  for (const { status } of await loads) assert.equal(status, 'rejected')
  over.abort()
  await beside

  assert.ok(acknowledged.size >= 300)
  for (const [id, token] of acknowledged) {
    const found = assertSuccess(await other.api.get({ user_group_id: id, name: 'Name' }))
    assert.equal(found.new_user_group, false, id)
    if (token !== undefined) assert.equal(found.user_group.token, token, id)
    // Nothing is left behind that would keep anybody from going on.
    assertSuccess(await other.api.post({ current_token: found.user_group.token }))
  }
})
