import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { responseTo, requestText } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi, withoutRequestId } from '../support/user-api.ts'

// Without the cache, a revoked API token is refused at once.
const service = await startService({ after }, { UGS_API_TOKEN_CACHE_MS: '0' })
const token = service.tokens.Testing
const api = userApi(service.origin, token)
const userGroupToken = tokenIn(await api.get({ user_group_id: 'known', name: 'Name' }))

function assertUnauthenticated(response: HttpResponse): void {
  assertFault(response, 'unauthenticated')
  assert.equal(response.headers['www-authenticate'], 'Token')
}

const refusal = withoutRequestId(await userApi(service.origin).get({ user_group_id: 'known' }))

for (const scheme of ['Token', 'token', 'TOKEN', 'tOkEn']) {
  test(`the scheme may be written ${scheme}`, async () => {
    const headers = { authorization: `${scheme} ${token}` }
    assertSuccess(await userApi(service.origin).get({ user_group_id: 'known' }, headers))
  })
}

const lastReplaced = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
const refused: Record<string, string> = {
  'an empty value': '',
  'the scheme alone': 'Token',
  'the scheme and a space': 'Token ',
  'the API token without a scheme': token,
  'no space between': `Token${token}`,
  'a colon after the scheme': `Token: ${token}`,
  'an equals sign': `Token token=${token}`,
  'quotation marks': `Token "${token}"`,
  'a Bearer': `Bearer ${token}`,
  'a Basic': `Basic ${Buffer.from(`${token}:`).toString('base64')}`,
  'an ApiKey': `ApiKey ${token}`,
  'two schemes': `Bearer Token ${token}`,
  'two API tokens': `Token ${token} ${token}`,
  'two API tokens with a comma': `Token ${token}, Token ${token}`,
  'a user group token': `Token ${userGroupToken}`,
  'an API token with a character more': `Token ${token}0`,
  'an API token with a character less': `Token ${token.slice(0, -1)}`,
  'an API token with a wrong checksum': `Token ${lastReplaced}`,
  'an API token in capitals': `Token ${token.toUpperCase()}`,
  'the prefix of the other environment': `Token ${token.replace('testing', 'customer')}`,
  'a user group token under the prefix of an API token': `Token ${userGroupToken.replace('ugt', 'uga')}`,
  'something else': 'Token secret',
  'something long': `Token ${'x'.repeat(8000)}`,
}
for (const [title, authorization] of Object.entries(refused)) {
  test(`Authorization with ${title} is 401, the same for all, and does nothing`, async () => {
    const stranger = userApi(service.origin)
    const body = { user_group_id: 'strangers', name: 'Name' }
    const responses = [
      await stranger.get(body, { authorization }),
      await stranger.put({ ...body, user_group_id: 'known' }, { authorization }),
      await stranger.post({ current_token: userGroupToken }, { authorization }),
    ]
    for (const response of responses) {
      assertUnauthenticated(response)
      assert.equal(withoutRequestId(response), refusal)
    }
    assertFault(await api.put({ user_group_id: 'strangers' }), 'user_group_not_found')
    assert.equal(tokenIn(await api.get({ user_group_id: 'known' })), userGroupToken)
  })
}

test('an API token anywhere but in Authorization is not looked at', async () => {
  const stranger = userApi(service.origin)
  const body = { user_group_id: 'known' }
  for (const headers of [
    { 'x-api-key': token },
    { 'x-api-token': token },
    { 'proxy-authorization': `Token ${token}` },
    { cookie: `token=${token}` },
  ]) {
    assertUnauthenticated(await stranger.get(body, headers))
  }
  for (const path of [`/api/user?token=${token}`, `/api/user?api_token=${token}`]) {
    assertUnauthenticated(await sendRequest(service.origin, { path, body }))
  }
  assertUnauthenticated(await stranger.get({ ...body, token }))
})

test('authentication precedes the checks of the request', async () => {
  const stranger = userApi(service.origin)
  const responses = [
    await stranger.get(),
    await stranger.get('{'),
    await stranger.get({ unknown: 1 }),
    await stranger.get('{}', { 'content-type': 'text/plain' }),
    await stranger.get('{}', { 'content-encoding': 'gzip' }),
    await stranger.post({}, { 'x-http-method-override': 'DELETE' }),
    await stranger.post({}, { 'idempotency-key': 'not valid' }),
    await stranger.put(Buffer.alloc(2 * 1024 * 1024, ' ')),
  ]
  for (const response of responses) assertUnauthenticated(response)
})

test('authentication does not wait for the body', async () => {
  for (const headers of [['Content-Length: 1000'], ['Transfer-Encoding: chunked']]) {
    for (const method of ['GET', 'POST', 'PUT']) {
      assertUnauthenticated(await responseTo(service.origin, requestText({ method, headers })))
    }
  }
})

test('an API token that was created while the service runs is valid at once', async () => {
  const created = await createApiToken(service, 'Testing')
  assert.match(created, /^uga_testing_/)
  assert.equal(
    tokenIn(await userApi(service.origin, created).get({ user_group_id: 'known' })),
    userGroupToken,
  )
})

test('a revoked API token is refused, and others go on', async () => {
  const json = JSON.parse(
    await runCommand(
      service,
      ...['api-token', 'create', '--environment', 'Testing', '--name', 'revoked', '--json'],
    ),
  ) as { id: number; token: string }
  const revoked = userApi(service.origin, json.token)
  assertSuccess(await revoked.get({ user_group_id: 'known' }))
  await runCommand(service, 'api-token', 'revoke', String(json.id))
  const response = await revoked.get({ user_group_id: 'known' })
  assertUnauthenticated(response)
  assert.equal(withoutRequestId(response), refusal)
  assertSuccess(await api.get({ user_group_id: 'known' }))
})

test('an API token is valid until it expires and refused from then on', async () => {
  const expiring = userApi(service.origin, await createApiToken(service, 'Testing', '--expires-in', '1s'))
  let response = await expiring.get({ user_group_id: 'known' })
  while (response.status === 200) {
    await sleep(20)
    response = await expiring.get({ user_group_id: 'known' })
  }
  assertUnauthenticated(response)
  assert.equal(withoutRequestId(response), refusal)
  assertUnauthenticated(await expiring.get({ user_group_id: 'known' }))
})

test('an API token with an expiry to come is valid', async () => {
  const later = userApi(service.origin, await createApiToken(service, 'Testing', '--expires-in', '90d'))
  assertSuccess(await later.get({ user_group_id: 'known' }))
})

test("an API token of another service's store is refused", async (t) => {
  const other = await startService(t)
  const token = await createApiToken(other, 'Testing')
  assertUnauthenticated(await userApi(service.origin, token).get({ user_group_id: 'known' }))
})
