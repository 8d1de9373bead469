import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hashToken } from '../../../src/domain/token/token.ts'
import { startApp } from '../../support/app.ts'
import { callOperation, sessionPath, signed, signIn, type SignedIn } from '../../support/console.ts'
import { sendRequest } from '../../support/http.ts'
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
const kept = ({ cookie }: SignedIn) => store.sessions.find(hashToken(cookie.slice('ugs_session='.length)))

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
