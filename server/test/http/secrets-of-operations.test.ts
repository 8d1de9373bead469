import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { scopes } from '../../src/domain/api-token/api-token.ts'
import { manage, operationIds, startManaged } from '../support/admin-api.ts'
import { shareOf } from '../support/cases.ts'
import { giveBelongings, nobodys, secretName } from '../support/belongings.ts'
import { startCollector } from '../support/collector.ts'
import { createApiToken } from '../support/command.ts'
import { secretOf, sessionPath, signed, signIn, signingIn } from '../support/console.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { kept, rowsOf } from '../support/kept.ts'
import { scrape } from '../support/metrics.ts'
import { operations, type Operation, type OperationId } from '../support/operations.ts'
import { assertNoSecret, assertNothingOfSecrets, tokenPattern } from '../support/secrets.ts'
import { userApi } from '../support/user-api.ts'

const collector = await startCollector({ after })
// The service logs and measures as much as it can.
const owner = await startManaged(
  { after },
  {
    LOG_LEVEL: 'trace',
    UGS_ACCESS_LOG: 'full',
    UGS_METRICS_PORT: '0',
    ...collector.settings,
  },
)
const { service, admin } = owner
const { origin } = service
const owned = await giveBelongings(owner)
const other = await manage(service, 'Testing')

const secretKeyFile = join(service.dataFolder, 'secret-keys')
const secretKey = readFileSync(secretKeyFile, 'utf8').trim().split(':')[1] as string
/** All secrets, except those that a response is about to show. */
const secrets = new Set([
  ...[owner.adminToken, other.adminToken, service.tokens.Customer, service.tokens.Testing],
  ...[owned.webhookSecret, owned.webhookSecret.slice('whsec_'.length), nobodys.webhookSecret],
  ...[owned.token, owned.replacedToken, owned.apiToken, nobodys.token, nobodys.apiToken],
  ...[owned.idempotencyKey, secretKey, Buffer.from(secretKey, 'base64').toString('hex')],
])

/** Personal data, which may be in responses, the store and CLI output, and nowhere else. */
const named = [owned.userGroupId, owned.deletedUserGroupId, secretName]

/** Operations whose responses show a token, once. */
const showing = new Set<OperationId>([
  ...([
    'getOrCreate',
    'getOrCreateByOverride',
    'update',
    'updateByOverride',
    'getOrCreateByPath',
    'updateByPath',
    'rotate',
    'rotateAgain',
    'createSession',
  ] as const),
  ...(['getUserGroupToken', 'rotateTokenOfUserGroup', 'viewAsUserGroup'] as const),
  ...(['createApiToken', 'rotateApiToken', 'createWorkspace'] as const),
  ...(['createWebhookEndpoint', 'rotateWebhookEndpoint'] as const),
])

function assertTellsNoSecret({ status, headers, text }: HttpResponse, id: OperationId): void {
  const shown = text.match(tokenPattern) ?? []
  assert.equal(shown.length, status < 300 && showing.has(id) ? 1 : 0, `${id}: ${text}`)
  const rest = shown.reduce((rest, token) => rest.replaceAll(token, ''), text)
  // Events contain SHA-256 digests of tokens, by which renderers find their cached introspections, and a configuration those of API tokens.
  const assertNone =
    id === 'readEvents' || id === 'exportConfiguration' ? assertNoSecret : assertNothingOfSecrets
  assertNone(`the response of ${id}`, rest + JSON.stringify(headers), [...secrets])
  assert.equal(headers['set-cookie'], undefined)
  for (const token of shown) secrets.add(token)
}

const all = Object.entries(operations) as [OperationId, Operation][]
const byToken = (token: string) => ({ authorization: `Token ${token}` })

test('no 401 or 403 response contains a secret, not even one that was sent', async () => {
  const reader = await createApiToken(service, 'Customer', '--scopes', 'read')
  secrets.add(reader)
  for (const [turn, [id, operation]] of all.entries()) {
    for (const secret of shareOf([...secrets], turn, 2)) {
      // Some secrets are not valid in a header.
      const authorization = `Token ${Buffer.from(secret).toString('latin1')}`
      assertTellsNoSecret(await operation.send(origin, { authorization: `${authorization}x` }, owned), id)
    }
    for (const token of [reader, other.adminToken, owned.apiToken])
      assertTellsNoSecret(await operation.send(origin, byToken(token), owned), id)
    assertTellsNoSecret(await operation.send(origin, byToken(owner.adminToken), nobodys), id)
  }
})

test('no error response contains a secret that was sent', async () => {
  for (const [turn, id] of operationIds.entries()) {
    for (const secret of shareOf([owner.adminToken, owned.token, owned.apiToken], turn, 1)) {
      const params = { team_id: owned.teamId, revision: 1, id: owned.apiTokenId }
      for (const input of [
        { params, body: { [secret]: secret }, query: { [secret]: secret } },
        { params, body: { [secret]: secret } },
        { params, body: { name: [secret], provided_id: [secret], token: [secret], user_group_ids: secret } },
        { params, body: `{"name":"${secret}` },
        { params, query: { cursor: secret } },
        { params, query: `limit=${encodeURIComponent(secret)}` },
        { params: { team_id: secret, id: secret }, body: {} },
      ]) {
        const response = await admin[id](input)
        if (response.status >= 400) assertTellsNoSecret(response, id)
      }
      const stale = { params, body: { name: secretName }, headers: { 'if-match': `"${secret}"` } }
      if (operations[id].route.startsWith('PATCH')) assertTellsNoSecret(await admin[id](stale), id)
    }
  }
})

test('successful responses contain only the secret that they are for', async () => {
  const token = await createApiToken(service, 'Customer', '--scopes', scopes.join())
  secrets.add(token)
  for (const [id, operation] of all.filter(([id]) => id !== 'deleteUserGroup'))
    assertTellsNoSecret(await operation.send(origin, byToken(token), owned), id)
  assertTellsNoSecret(await operations.deleteUserGroup.send(origin, byToken(token), owned), 'deleteUserGroup')
})

test('the secret of a session is only in its cookie', async () => {
  const signedIn = await signIn(origin, owner.adminToken)
  const [secret, csrf] = [secretOf(signedIn), signedIn.csrfToken]
  assertNothingOfSecrets('the response to a sign-in', signedIn.response.text, [...secrets, secret])
  secrets.add(secret)
  const whoIs = await sendRequest(origin, { path: sessionPath, headers: { cookie: signedIn.cookie } })
  assertNothingOfSecrets('the response that names the session', whoIs.text, secrets)
  secrets.add(csrf)
  for (const response of [
    await signingIn(origin, { api_token: `${secret}x` }),
    await sendRequest(origin, { method: 'DELETE', path: sessionPath, headers: { cookie: signedIn.cookie } }),
    await sendRequest(origin, { method: 'DELETE', path: sessionPath, headers: signed(signedIn) }),
    await sendRequest(origin, { path: sessionPath, headers: { cookie: signedIn.cookie } }),
    await sendRequest(origin, { path: `/console/${secret}`, headers: { cookie: signedIn.cookie } }),
  ])
    assertNothingOfSecrets('a response to a session', response.text, secrets)
})

test('public responses contain no secret', async () => {
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/console', '/nothing'])
    assertNothingOfSecrets(path, (await sendRequest(origin, { path })).text, secrets)
})

const withoutNames = (where: string, text: string) => {
  for (const name of named) assert.ok(!text.includes(name), `"${name}" is in ${where}`)
}

test('the metrics contain no secret, and no id or name of a user group', async () => {
  const { text } = await scrape(service)
  assert.match(text, /operation="rotateTokenOfUserGroup"/)
  assertNothingOfSecrets('the metrics', text, secrets)
  withoutNames('the metrics', text)
})

test('the traces contain no secret, and no id or name of a user group', async () => {
  const last = await userApi(origin, owner.adminToken).get({ user_group_id: owned.userGroupId })
  await collector.until((span) => span.attributes['ugs.request_id'] === last.headers['x-request-id'])
  const received = collector.received()
  assert.match(received, /listAuditEvents/)
  assertNothingOfSecrets('the traces', received, secrets)
  withoutNames('the traces', received)
})

test('no line of the log contains a secret, or an id or name of a user group', async () => {
  await service.logged('"operation":"deleteUserGroup"')
  const log = service.stderr()
  assertNothingOfSecrets('the log', log, secrets)
  assert.doesNotMatch(log, tokenPattern)
  withoutNames('the log', log)
})

test('no argument of a process contains a secret', { skip: !existsSync('/proc/self/cmdline') }, () => {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(join('/proc', pid, 'cmdline'), 'utf8')
      } catch {
        // The process has ended.
        return ''
      }
    })
  assert.ok(lines.some((line) => line.includes('ugs.js')))
  assertNothingOfSecrets('what ps shows', lines.join('\n'), secrets)
})

test('no audit event contains a secret or its digest', async () => {
  const events = [...(await rowsOf(service)).values()].filter(({ table }) => table.endsWith('audit_event'))
  assert.ok(events.length > 20)
  assertNothingOfSecrets('the audit log', JSON.stringify(events), secrets)
})

async function assertNoneIsKept(): Promise<void> {
  const files = await kept(service)
  files.delete('secret-keys')
  assert.ok(files.size > 0)
  for (const [where, bytes] of files) assertNoSecret(where, bytes, secrets)
}

test('no file but that of the secret keys contains a secret, while the service runs and afterwards', async () => {
  await assertNoneIsKept()
  assert.equal(await service.stop(), 0)
  await assertNoneIsKept()
  const shown = service.stdout().match(tokenPattern) ?? []
  assert.deepEqual(
    shown.filter((token) => !Object.values(service.tokens).includes(token)),
    [],
  )
})
