import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { generateSecretKey, Keyring } from '../../../../src/domain/secret-key/keyring.ts'
import { UserGroupService } from '../../../../src/domain/user-group/user-group-service.ts'
import { SigningKeys } from '../../../../src/domain/viewer-session/signing-keys.ts'
import { ViewerSessions } from '../../../../src/domain/viewer-session/viewer-sessions.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { actor } from '../../../store/contract/store-fixtures.ts'
import { defaults } from '../../../store/store-options.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

let now = Date.parse('2026-11-28T10:00:00Z')
const clock = { now: () => now, monotonic: () => 0 }
const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') }, defaults)
after(() => store.close())
const keyring = new Keyring([generateSecretKey('k1')])
const caller = { workspaceId: 1, environment: 'Customer', ...actor } as const
await new UserGroupService({ store, keyring, clock, mappingMode: 'free' }).getOrCreate(
  caller,
  'a',
  { name: 'A' },
  true,
)

/** A process of the service. */
function processOf() {
  const keys = new SigningKeys({ store, keyring, clock })
  return { keys, sessions: new ViewerSessions({ store, keys, clock, publicUrl: null }) }
}

const [first, second] = [processOf(), processOf()]
const create = async (expiresInSeconds = 86_400, { sessions } = first) =>
  (await sessions.create(caller, { providedId: 'a', viewerId: 'u', viewer: '{"id":"u"}', expiresInSeconds }))
    .token
const isActive = async (token: string) => (await second.sessions.introspect(caller, token, null)) !== null

/** Verifies a token with a key set, as an engine does that cannot call the service. */
function verifies(keySet: readonly object[], token: string): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
  const jwk = keySet.find((key) => (key as { kid: string }).kid === kid)
  if (jwk === undefined) return false
  const key = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
}

test('a rotation ends no session, and verifiers that cache the key set for 5 minutes know each key in time', async () => {
  const live: { token: string; until: number }[] = [{ token: await create(), until: now + dayMs }]
  let cached = { keySet: await second.keys.keySet(caller), until: now + 5 * minuteMs }
  const signers = new Set<string>()
  for (let minute = 0; minute < 27 * 60; minute += 4) {
    now += 4 * minuteMs
    if (minute === 60 || minute === 64) await first.keys.rotate(caller, false)
    if (now >= cached.until) cached = { keySet: await second.keys.keySet(caller), until: now + 5 * minuteMs }
    // One lives for a day, and others are short.
    const lifetimeMs = minute % 240 === 0 ? dayMs : 5 * minuteMs
    const token = await create(lifetimeMs / 1000, minute % 8 === 0 ? first : second)
    signers.add(token.split('.')[0] as string)
    live.push({ token, until: now + lifetimeMs })
    for (const { token, until } of live) {
      if (now >= until) continue
      assert.ok(verifies(cached.keySet, token), `minute ${minute}`)
      if (minute % 40 === 0) assert.ok(await isActive(token), `minute ${minute}`)
    }
  }
  assert.equal(signers.size, 3)
})

test('a retired key leaves the key set when its last session is over, and then the store', async () => {
  const [old] = await first.keys.list(caller)
  assert.ok(old)
  now = Math.max(now, old.retiredAt ?? 0)
  const ids = async () => (await second.keys.keySet(caller)).map((key) => (key as { kid: string }).kid)
  assert.ok(!(await ids()).includes(old.signingKeyId))
  await store.viewerSessions.deleteExpired(now)
  assert.ok(!(await first.keys.list(caller)).some(({ signingKeyId }) => signingKeyId === old.signingKeyId))
})

test('a key of more than 90 days is replaced by the next session, once', async () => {
  now += 90 * dayMs + 1000
  const before = await first.keys.list(caller)
  const tokens = await Promise.all([create(), create(86_400, second)])
  const after = await first.keys.list(caller)
  assert.equal(after.length, before.length + 1)
  for (const token of tokens) assert.ok(await isActive(token))
})

test('after a theft, sessions of the old keys are over in all processes at once', async () => {
  now += hourMs
  const stolen = await create()
  assert.ok(await isActive(stolen))
  const { signingKeyId } = await first.keys.rotate(caller, true)
  assert.equal(await isActive(stolen), false)
  assert.equal(await first.sessions.introspect(caller, stolen, null), null)
  const next = await create(86_400, second)
  assert.ok(await isActive(next))
  assert.deepEqual(
    (await second.keys.keySet(caller)).map((key) => (key as { kid: string }).kid),
    [signingKeyId],
  )
})

test('several rotations at once each take effect', async () => {
  const before = (await first.keys.list(caller)).length
  await Promise.all([first, second, first].map(({ keys }) => keys.rotate(caller, false)))
  assert.equal((await first.keys.list(caller)).length, before + 3)
  assert.ok(await isActive(await create()))
})

test('a key that cannot be decrypted is an error that names the remedy', async () => {
  const keys = new SigningKeys({ store, keyring: new Keyring([generateSecretKey('k2')]), clock })
  const sessions = new ViewerSessions({ store, keys, clock, publicUrl: null })
  await assert.rejects(
    sessions.create(caller, { providedId: 'a', viewerId: 'u', viewer: '{"id":"u"}', expiresInSeconds: 60 }),
    { code: 'unavailable', reason: /SIGNING_KEY_SEALED: .*signing-key rotate --now/ },
  )
})
