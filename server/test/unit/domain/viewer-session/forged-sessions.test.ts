import assert from 'node:assert/strict'
import { createHmac, createPublicKey, randomInt } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Environment } from '../../../../src/domain/environment.ts'
import { generateSecretKey, Keyring } from '../../../../src/domain/secret-key/keyring.ts'
import { UserGroupService } from '../../../../src/domain/user-group/user-group-service.ts'
import { SigningKeys } from '../../../../src/domain/viewer-session/signing-keys.ts'
import { ViewerSessions } from '../../../../src/domain/viewer-session/viewer-sessions.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { actor } from '../../../store/contract/store-fixtures.ts'
import { defaults } from '../../../store/store-options.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const start = Date.parse('2026-11-28T10:00:00Z')
let now = start
const clock = { now: () => now, monotonic: () => 0 }
const path = join(temporaryFolder({ after }), 'ugs.db')
const store = await openStore({ kind: 'sqlite', path }, defaults)
after(() => store.close())
const keyring = new Keyring([generateSecretKey('k1')])
const keys = new SigningKeys({ store, keyring, clock })
const sessions = new ViewerSessions({ store, keys, clock, publicUrl: 'https://ugs.example.com' })
const userGroups = new UserGroupService({ store, keyring, clock, mappingMode: 'free' })

const callerOf = (environment: Environment) => ({ workspaceId: 1, environment, ...actor })
const caller = callerOf('Customer')
const request = { providedId: 'a', viewerId: 'u', viewer: '{"id":"u"}', expiresInSeconds: 900 }

for (const environment of ['Customer', 'Testing'] as const)
  await userGroups.getOrCreate(callerOf(environment), 'a', { name: 'A' }, true)
const { token } = await sessions.create(caller, request)
const foreign = (await sessions.create(callerOf('Testing'), request)).token
const [header = '', payload = '', signature = ''] = token.split('.')

const isActive = async (text: string) => (await sessions.introspect(caller, text, null)) !== null
const base64url = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const decoded = (part: string) =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>

test('the token itself is active, in its environment only', async () => {
  assert.equal(await isActive(token), true)
  assert.equal(await isActive(foreign), false)
  assert.equal(await sessions.introspect(callerOf('Testing'), token, null), null)
  assert.equal(await sessions.introspect({ ...caller, workspaceId: 2 }, token, null), null)
})

test('each token with another byte is inactive', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n%'
  let count = 0
  while (count < 10_000) {
    for (let i = 0; i < token.length; i++) {
      const character = alphabet[randomInt(alphabet.length)] as string
      if (character === token[i]) continue
      count++
      const mutated = token.slice(0, i) + character + token.slice(i + 1)
      assert.equal(await isActive(mutated), false, `position ${i}: ${JSON.stringify(character)}`)
    }
  }
})

test('a token of another length is inactive', async () => {
  for (let i = 0; i < token.length; i++) {
    assert.equal(await isActive(token.slice(0, i)), false)
    assert.equal(await isActive(token.slice(0, i) + token.slice(i + 1)), false)
    assert.equal(await isActive(`${token.slice(0, i)}.${token.slice(i)}`), false)
  }
  for (const text of [
    `${token}.`,
    `${token}A`,
    `.${token}`,
    `${token}=`,
    `${header}..${signature}`,
    'eyJ..',
    'eyJ',
  ])
    assert.equal(await isActive(text), false, text)
})

const { kid } = decoded(header)
const [jwk] = (await keys.keySet(caller)) as [Record<string, string>]
const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
const headers: [string, object][] = [
  ['no algorithm', { alg: 'none', typ: 'ugs-session+jwt', kid }],
  ['HMAC', { alg: 'HS256', typ: 'ugs-session+jwt', kid }],
  ['another curve', { alg: 'ES384', typ: 'ugs-session+jwt', kid }],
  ['another type', { alg: 'ES256', typ: 'JWT', kid }],
  ['another order', { typ: 'ugs-session+jwt', alg: 'ES256', kid }],
  ['a key of its own', { alg: 'ES256', typ: 'ugs-session+jwt', kid, jwk }],
  ['the URL of a key set', { alg: 'ES256', typ: 'ugs-session+jwt', kid, jku: 'https://attacker.invalid/' }],
  ['a certificate URL', { alg: 'ES256', typ: 'ugs-session+jwt', kid, x5u: 'https://attacker.invalid/' }],
  ['a critical extension', { alg: 'ES256', typ: 'ugs-session+jwt', kid, crit: ['exp'] }],
  [
    'another key',
    { alg: 'ES256', typ: 'ugs-session+jwt', kid: decoded(foreign.split('.')[0] as string).kid },
  ],
  ['an unknown key', { alg: 'ES256', typ: 'ugs-session+jwt', kid: '1c-00000000' }],
  ['no key', { alg: 'ES256', typ: 'ugs-session+jwt' }],
]
for (const [name, other] of headers) {
  test(`a header with ${name} is inactive`, async () => {
    const signed = `${base64url(other)}.${payload}`
    const hmac = createHmac('sha256', pem).update(signed).digest('base64url')
    for (const end of [signature, '', hmac]) assert.equal(await isActive(`${signed}.${end}`), false)
  })
}

test('a payload of another user group is inactive', async () => {
  for (const change of [{ team_id: 2 }, { sub: 'b' }, { exp: 9_999_999_999 }, { viewer_id: 'other' }])
    assert.equal(
      await isActive(`${header}.${base64url({ ...decoded(payload), ...change })}.${signature}`),
      false,
    )
  const twice = Buffer.from(payload, 'base64url').toString().replace('{', '{"sub":"b",')
  assert.equal(await isActive(`${header}.${base64url(twice)}.${signature}`), false)
})

test('a token from the future is inactive, but for a clock that is up to 5 s ahead', async () => {
  now = start - 6000
  assert.equal(await isActive((await sessionsAt(start)).token), false)
  now = start - 5000
  assert.equal(await isActive((await sessionsAt(start)).token), true)
  now = start
})

/** Creates a session in a process with another clock. */
function sessionsAt(time: number) {
  const ahead = { now: () => time }
  const others = new SigningKeys({ store, keyring, clock: ahead })
  return new ViewerSessions({ store, keys: others, clock: ahead, publicUrl: null }).create(caller, request)
}

test('a session is inactive once its team id belongs to another user group, as after the return to an earlier backup', async () => {
  assert.equal(await isActive(token), true)
  const database = new BetterSqlite3(path)
  database.exec(
    "UPDATE user_group SET provided_id = 'other' WHERE environment = 'Customer' AND provided_id = 'a'",
  )
  database.close()
  assert.equal(await isActive(token), false)
})
