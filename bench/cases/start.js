import assert from 'node:assert/strict'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

const rounds = 5

/**
 * From the start of the process to the first answer of /api/user, on an empty data folder: the first start, with the
 * database, key and API tokens to make. The goal is under 0.5 s.
 * @type {import('../run.js').Case}
 */
export async function start() {
  const results = []
  for (let round = 0; round < rounds; round++) {
    const spawned = performance.now()
    const service = await startService()
    try {
      const answer = await fetch(`${service.origin}/api/user`, {
        method: 'POST',
        headers: {
          authorization: `Token ${service.token}`,
          'content-type': 'application/json',
          'x-http-method-override': 'GET',
        },
        body: '{"user_group_id":"customer-42","name":"Example customer"}',
      })
      const text = await answer.text()
      results.push({ 'first answer, ms': performance.now() - spawned })
      assert.equal(answer.status, 200, text)
    } finally {
      await service.stop()
    }
  }
  return { title: 'From spawn to the first answer', rows: [{ name: 'service', figures: summaries(results) }] }
}
