import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts'
import { generateApiToken, hashToken } from '../../../src/domain/token/token.ts'
import { Authentication } from '../../../src/http/authentication.ts'

const token = generateApiToken('Customer')
const apiToken: ApiToken = {
  id: 7,
  workspaceId: 1,
  environment: 'Customer',
  name: 'backend',
  scopes: ['read'],
  createdAt: 0,
  expiresAt: 5000,
  revokedAt: null,
  lastUsedAt: null,
  replacedBy: null,
  rateLimit: null,
}

/** An `Authentication` that trusts a looked-up API token for a second. `lookUps` counts those in the store. */
function authentication() {
  const state = { now: 0, lookUps: 0, used: 0, apiToken: apiToken as ApiToken | null }
  const revokedIds = new Set<number>()
  const find = (hash: Uint8Array) => {
    state.lookUps++
    return Promise.resolve(hashToken(token).equals(hash) ? state.apiToken : null)
  }
  const authenticate = new Authentication(['Token', 'Bearer', 'Basic'], {
    store: { apiTokens: { find } },
    clock: { now: () => state.now, monotonic: () => state.now },
    lastUsedTracker: { note: () => state.used++ },
    cacheMs: 1000,
    revokedIds,
  })
  return { state, revokedIds, authenticate }
}

const refused = { code: 'unauthenticated' }
const basic = (name: string, password: string) =>
  `Basic ${Buffer.from(`${name}:${encodeURIComponent(password)}`).toString('base64')}`

test('an API token is looked up again when its time in the cache is over', async () => {
  const { state, authenticate } = authentication()
  assert.equal(await authenticate.authenticate(`Token ${token}`), apiToken)
  state.now = 999
  assert.equal(authenticate.authenticate(`Token ${token}`), apiToken)
  assert.deepEqual([state.lookUps, state.used], [1, 2])
  state.now = 1000
  state.apiToken = null
  await assert.rejects(async () => authenticate.authenticate(`Token ${token}`), refused)
})

test('a revoked or expired API token is refused although it is cached', async () => {
  const { state, revokedIds, authenticate } = authentication()
  await authenticate.authenticate(`Token ${token}`)
  revokedIds.add(apiToken.id)
  await assert.rejects(async () => authenticate.authenticate(`Token ${token}`), refused)
  revokedIds.clear()
  state.now = 5000
  await assert.rejects(async () => authenticate.authenticate(`Token ${token}`), refused)
})

test('a distrusted header is looked up again', async () => {
  const { state, authenticate } = authentication()
  await authenticate.authenticate(`Token ${token}`)
  authenticate.distrust(`Token ${token}`)
  await authenticate.authenticate(`Token ${token}`)
  assert.equal(state.lookUps, 2)
})

test('long headers are not cached', async () => {
  const { state, authenticate } = authentication()
  const long = basic('n'.repeat(600), token)
  for (let i = 0; i < 2; i++) assert.equal(await authenticate.authenticate(long), apiToken)
  assert.equal(state.lookUps, 2)
})

test('every scheme carries the token, and nothing else passes', async () => {
  const { state, authenticate } = authentication()
  for (const header of [`token ${token}`, `Bearer  ${token}`, basic('', token), basic('a%b', token)])
    assert.equal(await authenticate.authenticate(header), apiToken, header)
  const { lookUps } = state
  for (const header of [
    '',
    token,
    `Digest ${token}`,
    `Token ${token} `,
    `Token ${token},${token}`,
    'Basic !',
  ])
    await assert.rejects(async () => authenticate.authenticate(header), refused, header)
  assert.equal(state.lookUps, lookUps)
})

test('a secret of a form is taken as it is', async () => {
  const { authenticate } = authentication()
  assert.equal(await authenticate.authenticateSecret(token), apiToken)
  for (const secret of ['', ` ${token}`, `${token}\n`])
    await assert.rejects(async () => authenticate.authenticateSecret(secret), refused)
})
