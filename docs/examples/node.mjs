// Creates a user group, updates it and rotates its token. Prints one response per line. Needs `npm install undici`, and
// UGS_API_TOKEN (and UGS_URL if the service is not at http://127.0.0.1:8080) in the environment.
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { request } from 'undici'

const url = `${process.env.UGS_URL ?? 'http://127.0.0.1:8080'}/api/user`

/** @typedef {{ user_group: { token: string } }} Result */

/**
 * @param {'GET' | 'PUT' | 'POST'} method
 * @param {object} body
 * @param {Record<string, string>} [headers]
 */
async function call(method, body, headers = {}) {
  const response = await request(url, {
    method,
    headers: {
      authorization: `Token ${process.env.UGS_API_TOKEN}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  })
  if (response.statusCode !== 200) {
    throw new Error(`${method}: ${response.statusCode} ${await response.body.text()}`)
  }
  const result = await response.body.json()
  console.log(JSON.stringify(result))
  return /** @type {Result} */ (result)
}

const { user_group: userGroup } = await call('GET', {
  user_group_id: 'customer-42',
  name: 'Example customer',
  mapping: { 40: '213' },
  properties: { region: 'EU' },
})

await call('PUT', { user_group_id: 'customer-42', properties: { region: 'EU', plan: 'gold' } })

await call(
  'POST',
  { current_token: userGroup.token, grace_period_seconds: 3600 },
  { 'idempotency-key': randomUUID() },
)
