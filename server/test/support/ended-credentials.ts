import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '../../src/domain/api-token/api-token.ts'
import { adminApi, assertSucceeded, type startManaged } from './admin-api.ts'
import { nobodys } from './belongings.ts'
import { sessionPath, signed, signIn } from './console.ts'
import { sendRequest } from './http.ts'

type Headers = Record<string, string>
type Owner = Pick<Awaited<ReturnType<typeof startManaged>>, 'service' | 'admin'>

const everyScope = { name: 'outsider', scopes: [...scopes] }

/** Waits until an API token has expired, and returns it. */
export async function untilEnded(origin: string, token: string): Promise<string> {
  while ((await adminApi(origin, token).listWorkspaces()).status === 200) await sleep(20)
  return token
}

/** Returns credentials that are neither a valid API token nor a valid session. */
export async function endedCredentials({ service: { origin }, admin }: Owner, userGroupToken: string) {
  const unknownTokens = {
    'a user group token': userGroupToken,
    'a made-up API token': nobodys.apiToken,
    'an API token that expired': await untilEnded(
      origin,
      (await issueApiToken({ ...everyScope, expires_in_seconds: 1 })).token,
    ),
    'an API token that was revoked': await revoked(),
    'an API token that was replaced, once the overlap is over': await superseded(),
  }
  const unauthenticated: Record<string, Headers> = {
    'no API token': {},
    ...Object.fromEntries(
      Object.entries(unknownTokens).map(([title, token]) => [title, { authorization: `Token ${token}` }]),
    ),
    'a session that was signed out of': await sessionThatWasLeft(),
    'the session of an API token that was revoked': await sessionOfRevoked(),
  }
  return { unknownTokens, unauthenticated }

  async function issueApiToken(body: object): Promise<{ id: number; token: string }> {
    const { api_token, token } = assertSucceeded<{ api_token: { id: number }; token: string }>(
      await admin.createApiToken({ body }),
      'createApiToken',
    )
    return { id: api_token.id, token }
  }

  async function revoke(id: number): Promise<void> {
    assertSucceeded(await admin.revokeApiToken({ params: { id } }), 'revokeApiToken')
  }

  async function revoked(): Promise<string> {
    const { id, token } = await issueApiToken(everyScope)
    await revoke(id)
    return token
  }

  async function superseded(): Promise<string> {
    const { id, token } = await issueApiToken(everyScope)
    const rotation = await admin.rotateApiToken({ params: { id }, body: { overlap_seconds: 1 } })
    assertSucceeded(rotation, 'rotateApiToken')
    return untilEnded(origin, token)
  }

  async function sessionOf(token: string): Promise<Headers> {
    return signed(await signIn(origin, token))
  }

  async function sessionThatWasLeft(): Promise<Headers> {
    const headers = await sessionOf((await issueApiToken(everyScope)).token)
    assert.equal((await sendRequest(origin, { method: 'DELETE', path: sessionPath, headers })).status, 200)
    return headers
  }

  async function sessionOfRevoked(): Promise<Headers> {
    const { id, token } = await issueApiToken(everyScope)
    const headers = await sessionOf(token)
    await revoke(id)
    return headers
  }
}
