import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import type { Client } from 'pg'
import { requirePackage } from '../../../scripts/install-packages.js'
import { freshDatabase } from '../../../server/test/support/database.ts'
import { freshRole } from '../../../server/test/support/role.ts'
import { openSession } from '../../../server/test/support/session.ts'
import { issuer, sharedHost } from './support.ts'

interface Claims {
  readonly sub: string
  readonly exp: number
  readonly role: string
}
/** Verifies a session at a time in seconds since the Unix epoch. */
type Verify = (session: string, now?: number) => Promise<Claims>

const expected = { audience: 'postgrest', issuer, algorithms: ['ES256'] }

/** Verifiers of JWTs, by their packages. */
const verifiers: Readonly<Record<string, (jwksUrl: string) => Verify>> = {
  jose(jwksUrl) {
    const { createRemoteJWKSet, jwtVerify } = requirePackage('tools/adapters', 'jose') as Jose
    const keys = createRemoteJWKSet(new URL(jwksUrl))
    return async (session, now) => {
      const currentDate = now === undefined ? new Date() : new Date(now * 1000)
      return (await jwtVerify(session, keys, { ...expected, typ: 'ugs-session+jwt', currentDate })).payload
    }
  },

  'jsonwebtoken and jwks-rsa'(jwksUrl) {
    const { verify } = requirePackage('tools/adapters', 'jsonwebtoken') as JsonWebToken
    const jwksClient = requirePackage('tools/adapters', 'jwks-rsa') as JwksRsa
    const client = jwksClient({ jwksUri: jwksUrl })
    const key: GetKey = (header, done) => {
      client.getSigningKey(header.kid).then(
        (key) => done(null, key.getPublicKey()),
        (error: unknown) => done(error),
      )
    }
    return (session, now) =>
      new Promise((resolve, reject) => {
        verify(
          session,
          key,
          { ...expected, ...(now !== undefined && { clockTimestamp: now }) },
          (error, claims) => (claims === undefined ? reject(new Error(String(error))) : resolve(claims)),
        )
      })
  },
}

describe('consumers of the key set', () => {
  const host = sharedHost()

  for (const [name, verifierOf] of Object.entries(verifiers))
    it(`${name}: a session selects the rows of its user group until it expires`, async (t) => {
      const { ugs, createSession, endSessions, jwksUrl } = host()
      const verify = verifierOf(jwksUrl)
      const { query, role } = await createDatabase(t)
      for (const id of ['42', '43']) await ugs('user-group', 'get-or-create', id, '--name', id)
      const forRole = { audience: 'postgrest', claims: { role } }
      const session = await createSession('42', forRole)
      const claims = await verify(session)
      assert.deepEqual([claims.sub, claims.role], ['42', role])
      assert.deepEqual(await query(claims), [1, 2])
      assert.deepEqual(await query(await verify(await createSession('43', forRole))), [4])
      assert.deepEqual(await query({ role }), [])

      for (const wrong of [
        `${session.slice(0, -4)}AAAA`,
        session.replace(/\.[^.]+\./, `.${encoded({ ...claims, sub: '43' })}.`),
        `${encoded({ alg: 'none', typ: 'ugs-session+jwt' })}.${session.split('.')[1]}.`,
        await createSession('42', { ...forRole, audience: 'other' }),
        await createSession('42'),
      ])
        await assert.rejects(verify(wrong))
      await endSessions('42')
      assert.equal((await verify(session, claims.exp - 1)).sub, '42')
      await assert.rejects(verify(session, claims.exp))
      await assert.rejects(
        createSession('42', { ...forRole, expires_in_seconds: 3601 }),
        /expires_in_seconds/,
      )
    })
})

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Creates a database with the policy, and returns a function that selects as PostgREST does with these claims. */
async function createDatabase(t: TestContext) {
  const url = await freshDatabase(t)
  const admin = await openSession(t, url)
  const authenticatorUrl = await freshRole(t, url)
  const role = new URL(await freshRole(t, url, 'NOLOGIN')).username
  await admin.query(`
    CREATE TABLE sales (customer text, amount integer);
    INSERT INTO sales VALUES ('42', 1), ('42', 2), ('43', 4), ('', 8), (NULL, 16);
    GRANT ${role} TO ${new URL(authenticatorUrl).username}`)
  const policy = readFileSync(new URL('../postgrest/policy.sql', import.meta.url), 'utf8')
  await admin.query(policy.replaceAll('dashboard', role))
  const authenticator = await openSession(t, authenticatorUrl)
  return { role, query: (claims: { role: string }) => selectAs(authenticator, claims) }
}

async function selectAs(client: Client, claims: { role: string }): Promise<number[]> {
  await client.query('BEGIN READ ONLY')
  await client.query(`SELECT set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`, [
    claims.role,
    JSON.stringify(claims),
  ])
  const { rows } = await client.query<{ amount: number }>('SELECT amount FROM sales ORDER BY amount')
  await client.query('COMMIT')
  return rows.map(({ amount }) => amount)
}

interface Jose {
  readonly createRemoteJWKSet: (url: URL) => unknown
  readonly jwtVerify: (jwt: string, keys: unknown, options: object) => Promise<{ payload: Claims }>
}
type GetKey = (header: { kid: string }, done: (error: unknown, key?: string) => void) => void
interface JsonWebToken {
  readonly verify: (
    jwt: string,
    key: GetKey,
    options: object,
    done: (error: unknown, claims?: Claims) => void,
  ) => void
}
type JwksRsa = (options: { jwksUri: string }) => {
  readonly getSigningKey: (kid: string) => Promise<{ getPublicKey: () => string }>
}
