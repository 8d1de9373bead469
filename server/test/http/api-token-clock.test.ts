import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { adminApi, assertSucceeded } from '../support/admin-api.ts'
import { startApp } from '../support/app.ts'
import { sessionPath, signIn, signingIn } from '../support/console.ts'
import { sendRequest } from '../support/http.ts'
import { userApi } from '../support/user-api.ts'

const minute = 60_000

const time = { now: Date.parse('2030-01-01T00:00:56.789Z') }
const clock = { now: () => time.now, monotonic: () => time.now }
const { origin, createApiToken, writeUses } = await startApp({ after }, clock)
const adminToken = await createApiToken()
const admin = adminApi(origin, adminToken)

interface NewApiToken {
  readonly api_token: { readonly id: number }
  readonly token: string
}
const issueToken = async (body: object = {}) =>
  assertSucceeded<NewApiToken>(
    await admin.createApiToken({ body: { name: 'backend', scopes: ['write'], ...body } }),
    'createApiToken',
  )
const use = async (token: string) =>
  (await userApi(origin, token).get({ user_group_id: 'x', name: 'Name' })).status
const lastUse = async (id: number) => {
  const response = assertSucceeded<{ api_tokens: { id: number; last_used_at: string | null }[] }>(
    await admin.listApiTokens(),
    'listApiTokens',
  )
  return response.api_tokens.find((one) => one.id === id)?.last_used_at
}

test('a rotated API token works until the end of the overlap', async () => {
  const old = await issueToken()
  const rotation = { params: { id: old.api_token.id }, body: { overlap_seconds: 3600 } }
  const { token } = assertSucceeded<NewApiToken>(await admin.rotateApiToken(rotation), 'rotateApiToken')
  time.now += 3_600_000 - 1
  assert.deepEqual([await use(old.token), await use(token)], [200, 200])
  time.now += 1
  assert.deepEqual([await use(old.token), await use(token)], [401, 200])
})

test('the last use is rounded down to the minute and written in the background', async () => {
  time.now = Date.parse('2030-01-02T00:00:56.789Z')
  const { api_token, token } = await issueToken()
  await use(token)
  assert.equal(await lastUse(api_token.id), null)
  await writeUses()
  assert.equal(await lastUse(api_token.id), '2030-01-02T00:00:00.000Z')
  time.now += 2 * minute
  await use(token)
  assert.equal(await lastUse(api_token.id), '2030-01-02T00:00:00.000Z')
  await writeUses()
  assert.equal(await lastUse(api_token.id), '2030-01-02T00:02:00.000Z')
})

test('a forbidden request counts as a use, a request with an expired API token does not', async () => {
  time.now = Date.parse('2030-01-03T00:00:00.000Z')
  const { api_token, token } = await issueToken({ scopes: ['introspect'], expires_in_seconds: 60 })
  assert.equal(await use(token), 403)
  await writeUses()
  assert.equal(await lastUse(api_token.id), '2030-01-03T00:00:00.000Z')
  time.now += minute
  assert.equal(await use(token), 401)
  await writeUses()
  assert.equal(await lastUse(api_token.id), '2030-01-03T00:00:00.000Z')
})

test('signing in to the console and using it count as uses', async () => {
  time.now = Date.parse('2030-01-04T00:00:00.000Z')
  const { api_token, token } = await issueToken({ scopes: ['admin'] })
  const session = await signIn(origin, token)
  await writeUses()
  assert.equal(await lastUse(api_token.id), '2030-01-04T00:00:00.000Z')
  time.now += minute
  await sendRequest(origin, { path: sessionPath, headers: { cookie: session.cookie } })
  await writeUses()
  assert.equal(await lastUse(api_token.id), '2030-01-04T00:01:00.000Z')
  const other = await issueToken()
  assert.equal((await signingIn(origin, { api_token: other.token })).status, 403)
  await writeUses()
  assert.equal(await lastUse(other.api_token.id), '2030-01-04T00:01:00.000Z')
})
