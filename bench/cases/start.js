import assert from 'node:assert/strict'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

const rounds = 5

/**
 * Measures the time from the start of the process to the first response of /api/user. The data folder is empty, so the start
 * creates the database, secret key and API tokens. The goal is below 0.5 s.
 * @type {import('../run.js').Case}
 */
export async function start() {
  const results = []
  for (let round = 0; round < rounds; round++) {
    const spawned = performance.now()
    const service = await startService()
    try {
      const response = await fetch(`${service.origin}/api/user`, {
        method: 'POST',
        headers: {
          authorization: `Token ${service.token}`,
          'content-type': 'application/json',
          'x-http-method-override': 'GET',
        },
        body: '{"user_group_id":"customer-42","name":"Example customer"}',
      })
      const text = await response.text()
      results.push({ 'first response, ms': performance.now() - spawned })
      assert.equal(response.status, 200, text)
    } finally {
      await service.stop()
    }
  }
  return {
    title: 'From spawn to the first response',
    rows: [{ name: 'service', figures: summaries(results) }],
  }
}
