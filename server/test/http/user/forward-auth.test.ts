import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/app.ts'
import { sendRequest, type HttpResponse } from '../../support/http.ts'
import { assertFault, assertSuccess, userApi, userGroupIn } from '../../support/user-api.ts'

const app = await startApp({ after }, { now: () => Date.now(), monotonic: () => performance.now() })
const apiToken = await app.createApiToken(undefined, ['write', 'introspect'])
const id = 'group ä%'
const { token: userGroupToken, team_id } = userGroupIn(
  await userApi(app.origin, apiToken).get({ user_group_id: id, name: 'A', properties: { a: 'ä' } }),
)
const created = await sendRequest(app.origin, {
  ...{ method: 'POST', path: '/api/user/create-session', token: apiToken },
  body: { user_group_id: id, viewer: { id: 'u/7' }, resources: ['sales'] },
})
const { token: session } = (assertSuccess(created) as unknown as { session: { token: string } }).session

const ask = (headers: Record<string, string>, path = '/forward-auth', method = 'GET') =>
  sendRequest(app.origin, { path, method, headers: { authorization: `Token ${apiToken}`, ...headers } })

function assertPasses(response: HttpResponse, viewerId: string): void {
  const { status, headers, text } = response
  assert.deepEqual([status, text], [204, ''])
  assert.deepEqual(
    [headers['x-user-group-id'], headers['x-user-group-team-id'], headers['x-viewer-id']],
    ['group%20%C3%A4%25', String(team_id), viewerId],
  )
  const properties = Buffer.from(String(headers['x-user-group-properties']), 'base64url').toString()
  assert.equal(properties, '{"a":"ä"}')
  assert.equal(headers['cache-control'], 'no-store')
}

function assertStops({ status, text, headers }: HttpResponse): void {
  assert.deepEqual([status, text, headers['x-user-group-id']], [401, '', undefined])
  // A browser would ask for a password.
  assert.equal(headers['www-authenticate'], 'Bearer')
}

test('an active token passes', async () => {
  assertPasses(await ask({ 'x-viewer-token': session }), 'u/7')
  assertPasses(await ask({ 'x-viewer-token': `bearer ${session}` }), 'u/7')
  assertPasses(await ask({ 'x-viewer-token': userGroupToken }), '')
  assertPasses(await ask({ cookie: `b=${userGroupToken}; viewer_token=${session}; a=b` }), 'u/7')
  assertPasses(await ask({}, `/forward-auth?viewer_token=${session}`), 'u/7')
  for (const header of ['x-original-uri', 'x-forwarded-uri'])
    assertPasses(await ask({ [header]: `/page?x=1&viewer_token=${session}#viewer_token=x` }), 'u/7')
})

test('the gateway may send its API token as Token, Bearer or Basic', async () => {
  const basic = `Basic ${Buffer.from(`gateway:${apiToken}`).toString('base64')}`
  for (const authorization of [`Token ${apiToken}`, `Bearer ${apiToken}`, basic])
    assertPasses(await ask({ authorization, 'x-viewer-token': session }), 'u/7')
})

test('any other token is 401 without a body', async () => {
  assertStops(await ask({}))
  for (const token of ['', 'x', apiToken, `${session}x`, `${userGroupToken}x`, 'Bearer ', 'x'.repeat(8000)])
    assertStops(await ask({ 'x-viewer-token': token }))
  assertStops(await ask({ cookie: `not_viewer_token=${session}` }))
  const elsewhere = await app.createApiToken(undefined, ['introspect'])
  assertStops(await ask({ authorization: `Token ${elsewhere}x`, 'x-viewer-token': session }))
  assertStops(
    await sendRequest(app.origin, { path: '/forward-auth', headers: { 'x-viewer-token': session } }),
  )
})

test('the header counts before the query, and the query before the cookie', async () => {
  assertStops(await ask({ 'x-viewer-token': 'x', cookie: `viewer_token=${session}` }))
  assertStops(await ask({ cookie: `viewer_token=${session}` }, '/forward-auth?viewer_token=x'))
})

test('a session for another resource is 401', async () => {
  assertPasses(await ask({ 'x-viewer-token': session }, '/forward-auth?resource=sales'), 'u/7')
  assertStops(await ask({ 'x-viewer-token': session }, '/forward-auth?resource=other'))
  assertStops(await ask({ 'x-viewer-token': session }, '/forward-auth?resource=sales&resource=other'))
  // A variable of the gateway may be empty, which must not mean any resource.
  assertStops(await ask({ 'x-viewer-token': session }, '/forward-auth?resource='))
  assertStops(await ask({ 'x-viewer-token': session }, '/forward-auth?resource'))
  // The viewer's own query names no resource.
  assertPasses(await ask({ 'x-viewer-token': session, 'x-original-uri': '/page?resource=other' }), 'u/7')
})

test('an API token without the scope introspect is 403', async () => {
  const writer = await app.createApiToken(undefined, ['write'])
  assertFault(await ask({ authorization: `Token ${writer}`, 'x-viewer-token': session }), 'forbidden')
})

test('the method and path of the viewer may be appended', async () => {
  for (const method of ['GET', 'POST', 'DELETE'])
    assertPasses(await ask({ 'x-viewer-token': session }, '/forward-auth/a/b?resource=other', method), 'u/7')
  assertStops(await ask({}, '/forward-auth/a/b', 'POST'))
  assertFault(await ask({ 'x-viewer-token': session }, '/forward-auth', 'POST'), 'method_not_allowed')
})
