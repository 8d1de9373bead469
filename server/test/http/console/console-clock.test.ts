import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signInLinkUrl } from '../../../src/contract/console.ts'
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts'
import { createSignInLink } from '../../../src/domain/console-session/sign-in-link.ts'
import { hashToken } from '../../../src/domain/token/token.ts'
import { startApp } from '../../support/app.ts'
import {
  callOperation,
  secretOf,
  sessionPath,
  signed,
  signedIn,
  signIn,
  useLink,
  type SignedIn,
} from '../../support/console.ts'
import { sendRequest } from '../../support/http.ts'
import { actor } from '../../store/contract/store-fixtures.ts'
import { assertFault } from '../../support/user-api.ts'

const minute = 60_000
const hour = 60 * minute

const time = { now: Date.parse('2030-01-01T00:00:00Z') }
const clock = { now: () => time.now, monotonic: () => time.now }
const { origin, store, createApiToken } = await startApp({ after }, clock)
const apiToken = await createApiToken()

const whoIs = ({ cookie }: SignedIn) => sendRequest(origin, { path: sessionPath, headers: { cookie } })
const isOver = async (session: SignedIn) => {
  const response = await whoIs(session)
  if (response.status === 200) return false
  assertFault(response, 'unauthenticated')
  return true
}
const kept = (session: SignedIn) => store.consoleSessions.find(hashToken(secretOf(session)))

test('an unused session expires after half an hour', async () => {
  const one = await signIn(origin, apiToken)
  const another = await signIn(origin, apiToken)
  time.now += 30 * minute - 1
  assert.equal(await isOver(one), false)
  time.now += 1
  assert.equal(await isOver(another), true)
  assert.equal(await isOver(one), false)
  time.now += 30 * minute
  assert.equal(await isOver(one), true)
})

test('every request in a session extends it', async () => {
  const session = await signIn(origin, apiToken)
  const uses = [
    () => callOperation(origin, 'listWorkspaces', { headers: { cookie: session.cookie } }),
    () => callOperation(origin, 'createWorkspace', { body: { name: 'used' }, headers: signed(session) }),
    () => whoIs(session),
  ]
  for (const use of [...uses, ...uses]) {
    time.now += 29 * minute
    assert.ok((await use()).status !== 401)
  }
  time.now += 30 * minute
  for (const use of uses) assert.equal((await use()).status, 401)
})

test('a session expires after twelve hours, even if it is used', async () => {
  const session = await signIn(origin, apiToken)
  const began = time.now
  assert.equal(session.session.expires_at, new Date(began + 12 * hour).toISOString())
  for (let i = 1; i < 48; i++) {
    time.now = began + i * 15 * minute
    assert.equal(await isOver(session), false)
  }
  time.now = began + 12 * hour - 1
  assert.equal(await isOver(session), false)
  time.now += 1
  assert.equal(await isOver(session), true)
  const change = { body: { name: 'too late' }, headers: signed(session) }
  assert.equal((await callOperation(origin, 'createWorkspace', change)).status, 401)
})

test('a use is written at most once a minute', async () => {
  const session = await signIn(origin, apiToken)
  const began = time.now
  const lastUse = async () => ((await kept(session))?.lastUsedAt ?? 0) - began
  for (const [after, written] of [
    [0, 0],
    [1, 0],
    [minute - 1, 0],
    [minute, minute],
    [minute + 1, minute],
    [2 * minute - 1, minute],
    [2 * minute, 2 * minute],
    [20 * minute, 20 * minute],
  ] as const) {
    time.now = began + after
    assert.equal(await isOver(session), false)
    assert.equal(await lastUse(), written, `after ${after} ms`)
  }
  assert.equal((await kept(session))?.createdAt, began)
})

test('a request does not extend an expired session', async () => {
  const session = await signIn(origin, apiToken)
  const began = time.now
  time.now += 31 * minute
  assert.equal(await isOver(session), true)
  assert.equal((await kept(session))?.lastUsedAt, began)
})

test('a session expires together with its API token', async () => {
  const expiresAt = time.now + 10 * minute
  const session = await signIn(origin, await createApiToken(expiresAt))
  assert.equal(session.session.expires_at, new Date(expiresAt).toISOString())
  time.now = expiresAt - 1
  assert.equal(await isOver(session), false)
  time.now = expiresAt
  assert.equal(await isOver(session), true)
})

/** Creates a sign-in link for a new API token and returns both. */
async function createLink() {
  const apiToken = (await store.apiTokens.find(hashToken(await createApiToken()))) as ApiToken
  const { secret } = await createSignInLink(store, { apiToken, actor, now: time.now })
  return { apiToken, link: signInLinkUrl(origin, secret) }
}

test('a sign-in link works once, within 15 minutes', async () => {
  const { apiToken, link } = await createLink()
  const { link: late } = await createLink()
  time.now += 15 * minute - 1
  const session = signedIn(await useLink(origin, link))
  assert.deepEqual(session.session.api_token, { id: apiToken.id, name: apiToken.name })
  assert.equal(await isOver(session), false)
  assertFault(await useLink(origin, link), 'unauthenticated')
  time.now += 1
  assertFault(await useLink(origin, late), 'unauthenticated')
  assertFault(await useLink(origin, signInLinkUrl(origin, 'x'.repeat(43))), 'unauthenticated')
})

test('a sign-in link and its session end with their API token', async () => {
  const { apiToken, link } = await createLink()
  const session = signedIn(await useLink(origin, link))
  const { secret } = await createSignInLink(store, { apiToken, actor, now: time.now })
  await store.apiTokens.revoke({ id: apiToken.id, ...actor, now: time.now })
  assert.equal(await isOver(session), true)
  assertFault(await useLink(origin, signInLinkUrl(origin, secret)), 'unauthenticated')
})
