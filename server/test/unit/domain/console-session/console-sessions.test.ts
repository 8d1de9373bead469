import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiToken } from '../../../../src/domain/api-token/api-token.ts'
import type { ApiTokenStore } from '../../../../src/domain/api-token/api-token-store.ts'
import {
  ConsoleSessions,
  csrfTokenOf,
  sessionIdleMs,
  sessionMaxMs,
} from '../../../../src/domain/console-session/console-sessions.ts'
import type {
  ConsoleSession,
  NewConsoleSession,
  ConsoleSessionStore,
  SignInLink,
} from '../../../../src/domain/console-session/console-session-store.ts'
import { generateApiToken, hashToken } from '../../../../src/domain/token/token.ts'

const token = generateApiToken('Customer')
const options = { requestId: 'request-1', previous: [] }
const apiToken: ApiToken = {
  id: 7,
  workspaceId: 1,
  environment: 'Customer',
  name: 'admin',
  scopes: ['admin'],
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  replacedBy: null,
  rateLimit: null,
}

/** Sessions over one API token, with the sessions and links in memory. */
function sessionsOf(over: Partial<ApiToken> = {}) {
  const state = { now: 1_000_000, apiToken: { ...apiToken, ...over } }
  const sessions = new Map<string, ConsoleSession>()
  const links = new Map<string, SignInLink>()
  const created: NewConsoleSession[] = []
  const keyOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex')
  const touched: number[] = []
  const store = {
    apiTokens: {
      find: (hash: Uint8Array) => Promise.resolve(hashToken(token).equals(hash) ? state.apiToken : null),
    } as ApiTokenStore,
    consoleSessions: {
      create: (session: NewConsoleSession) => {
        created.push(session)
        if (session.linkHash !== undefined && !links.delete(keyOf(session.linkHash)))
          return Promise.resolve(false)
        for (const hash of session.replacedHashes ?? []) sessions.delete(keyOf(hash))
        const { hash, now } = session
        sessions.set(keyOf(hash), { hash, principal: state.apiToken, createdAt: now, lastUsedAt: now })
        return Promise.resolve(true)
      },
      find: (hash: Uint8Array) => {
        const found = sessions.get(keyOf(hash))
        return Promise.resolve(found === undefined ? null : { ...found, principal: state.apiToken })
      },
      touch: (hash: Uint8Array, now: number) => {
        touched.push(now)
        const found = sessions.get(keyOf(hash)) as ConsoleSession
        sessions.set(keyOf(hash), { ...found, lastUsedAt: now })
        return Promise.resolve()
      },
      delete: (hash: Uint8Array) => Promise.resolve(void sessions.delete(keyOf(hash))),
      findLink: (hash: Uint8Array) => Promise.resolve(links.get(keyOf(hash)) ?? null),
    } as ConsoleSessionStore,
  }
  const clock = { now: () => state.now, monotonic: () => state.now }
  const lastUsedTracker = { note: () => undefined }
  const console = new ConsoleSessions({ store, clock, lastUsedTracker })
  const addLink = (secret: string, expiresAt: number) =>
    links.set(keyOf(hashToken(secret)), { apiToken: state.apiToken, expiresAt })
  return { console, state, created, touched, addLink }
}

test('a session has the permissions of its API token and a CSRF token of its own', async () => {
  const { console } = sessionsOf()
  const { secret, csrfToken, ...session } = await console.signIn(token, options)
  assert.equal(csrfToken, csrfTokenOf(secret))
  assert.notEqual(csrfToken, secret)
  assert.deepEqual(session.principal, apiToken)
  assert.deepEqual((await console.find(secret))?.principal, session.principal)
  await console.signOut(secret)
  assert.equal(await console.find(secret), null)
})

test('only a valid API token with the scope admin signs in', async () => {
  const signIn = (over: Partial<ApiToken>) => sessionsOf(over).console.signIn(token, options)
  await assert.rejects(signIn({ scopes: ['write', 'read', 'introspect'] }), { code: 'forbidden' })
  await assert.rejects(signIn({ revokedAt: 5 }), { code: 'unauthenticated' })
  await assert.rejects(signIn({ expiresAt: 1_000_000 }), { code: 'unauthenticated' })
  const { console } = sessionsOf()
  for (const other of [generateApiToken('Customer'), 'ugt_customer_1', ''])
    await assert.rejects(console.signIn(other, options), { code: 'unauthenticated' })
})

test('a session ends without use, at its maximum age, and with its API token', async () => {
  const { console, state } = sessionsOf()
  const { secret } = await console.signIn(token, options)
  const { now: createdAt } = state
  state.now += sessionIdleMs - 1
  assert.notEqual(await console.find(secret), null)
  state.now += sessionIdleMs
  assert.equal(await console.find(secret), null)

  const { secret: used } = await console.signIn(token, options)
  const startedAt = state.now
  for (; state.now < startedAt + sessionMaxMs; state.now += sessionIdleMs / 2)
    assert.notEqual(await console.find(used), null, String(state.now - createdAt))
  assert.equal(await console.find(used), null)

  const { secret: revoked } = await console.signIn(token, options)
  state.apiToken = { ...apiToken, revokedAt: state.now }
  assert.equal(await console.find(revoked), null)
})

test('the use of a session is written at most once a minute', async () => {
  const { console, state, touched } = sessionsOf()
  const { secret } = await console.signIn(token, options)
  for (let i = 0; i < 5; i++) {
    state.now += 30_000
    await console.find(secret)
  }
  assert.deepEqual(touched, [1_060_000, 1_120_000])
})

test('the use of a session keeps the other open sessions of the browser, and revives none that is over', async () => {
  const { console, state } = sessionsOf()
  const over = await console.signIn(token, options)
  state.now += sessionIdleMs
  const [used, other] = [await console.signIn(token, options), await console.signIn(token, options)]
  const others = [over, used, other].map(({ secret }) => ({ environment: 'Customer' as const, secret }))
  for (let i = 0; i < 3; i++) {
    state.now += sessionIdleMs / 2
    assert.notEqual(await console.find(used.secret, others), null)
  }
  assert.notEqual(await console.find(other.secret), null)
  assert.equal(await console.find(over.secret), null)
})

test('a sign-in replaces the sessions of its own environment only', async () => {
  const { console, created } = sessionsOf()
  const previous = [
    { environment: 'Customer', secret: 'own' },
    { environment: 'Testing', secret: 'other' },
  ] as const
  await console.signIn(token, { ...options, previous })
  assert.deepEqual(created[0]?.replacedHashes, [hashToken('own')])
})

test('a sign-in link works once, before it expires, while its API token may manage', async () => {
  const { console, state, addLink } = sessionsOf()
  addLink('link', state.now + 1)
  const { secret } = await console.signInByLink('link', options)
  assert.notEqual(await console.find(secret), null)
  await assert.rejects(console.signInByLink('link', options), { code: 'unauthenticated' })
  addLink('old', state.now)
  await assert.rejects(console.findLink('old'), { code: 'unauthenticated' })
  state.apiToken = { ...apiToken, scopes: ['write'] }
  addLink('weak', state.now + 1)
  await assert.rejects(console.findLink('weak'), { code: 'unauthenticated' })
})
