import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AdminOperationId } from '../../src/http/admin/operations.ts'
import { scopes } from '../../src/domain/api-token/api-token.ts'
import type { FaultCode } from '../../src/domain/fault.ts'
import {
  adminApi,
  assertSucceeded,
  assertRefused,
  manage,
  of,
  operationIds,
  rowsIn,
  startManaged,
} from '../support/admin-api.ts'
import { shareOf } from '../support/cases.ts'
import { giveBelongings, nobodys, secretName, withoutIds } from '../support/belongings.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { sessionPath, signed, signIn, signingIn } from '../support/console.ts'
import { endedCredentials } from '../support/ended-credentials.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { assertOnlyTheirs, rowsOf, writingNothing, type Rows } from '../support/kept.ts'
import {
  assertCode,
  gatewayRoutes,
  openRoutes,
  operations,
  routesOf,
  sessionRoutes,
  type Operation,
  type OperationId,
} from '../support/operations.ts'
import { assertCommonHeaders, assertFault, withoutRequestId, type ErrorCode } from '../support/user-api.ts'

const owner = await startManaged({ after })
const { service, admin } = owner
const { origin } = service
const owned = await giveBelongings(owner)
const ownersToken = await createApiToken(service, 'Customer', '--scopes', scopes.join())
const all = Object.entries(operations) as [OperationId, Operation][]

type Headers = Record<string, string>

const byToken = (token: string): Headers => ({ authorization: `Token ${token}` })
const { unknownTokens, unauthenticated } = await endedCredentials(owner, owned.token)

await runCommand(service, 'workspace', 'create', 'second')
interface TenantScope {
  readonly id: number
  readonly environment: 'Customer' | 'Testing'
}
const there = async (environment: 'Customer' | 'Testing', workspace?: string) => {
  const { adminToken } = await manage(service, environment, workspace)
  const options = workspace === undefined ? [] : ['--workspace', workspace]
  const token = await createApiToken(service, environment, ...options, '--scopes', scopes.join())
  const tenantScope: TenantScope = { id: workspace === undefined ? 1 : 2, environment }
  return { tenantScope, byToken: byToken(token), bySession: signed(await signIn(origin, adminToken)) }
}
const strangers = {
  'another workspace': await there('Customer', 'second'),
  'the other environment': await there('Testing'),
  'the other environment of another workspace': await there('Testing', 'second'),
}
type Stranger = keyof typeof strangers

test('every route is in these tests or is public', async (t) => {
  const routes = (await routesOf(t)).filter((route) => !openRoutes.test(route) && !gatewayRoutes.test(route))
  const held = new Set([...all.map(([, { route }]) => route), ...sessionRoutes])
  assert.deepEqual([...new Set(routes)], [...held].sort())
})

describe('an unauthenticated request', () => {
  const titles = Object.keys(unauthenticated)
  for (const [title, headers] of Object.entries(unauthenticated)) {
    test(`with ${title} gets 401 from every operation, for any target, and changes nothing`, async () => {
      await writingNothing(service, async () => {
        for (const [turn, [id, operation]] of all.entries()) {
          const refusal = await operation.send(origin, headers, owned)
          assert.equal(refusal.status, 401, `${id}: ${refusal.text}`)
          assertCode(refusal, 'unauthenticated', operation)
          assertCommonHeaders(refusal)
          if (!shareOf(titles, turn, 1).includes(title)) continue
          for (const others of [
            await operation.send(origin, headers, nobodys),
            // The response says that a session has expired, but not why an API token is invalid.
            await operation.send(origin, 'cookie' in headers ? headers : {}, owned),
          ])
            assert.equal(withoutRequestId(refusal), withoutRequestId(others))
        }
      })
    })
  }

  test('cannot sign in to the console', async () => {
    await writingNothing(service, async () => {
      const refusals = new Set<string>()
      for (const token of Object.values(unknownTokens)) {
        const refusal = await signingIn(origin, { api_token: token })
        assertFault(refusal, 'unauthenticated')
        assert.equal(refusal.headers['www-authenticate'], 'Token')
        refusals.add(withoutRequestId(refusal))
      }
      // Only a user group token gets another text, by its prefix.
      assert.equal(refusals.size, 2)
      for (const headers of Object.values(unauthenticated)) {
        for (const method of ['GET', 'DELETE']) {
          const refusal = await sendRequest(origin, { method, path: sessionPath, headers })
          assertFault(refusal, 'unauthenticated')
          assert.equal(refusal.headers['www-authenticate'], 'Token')
        }
      }
    })
  })

  test('can use schemes other than Token only at the OAuth endpoints', async () => {
    const basic = Buffer.from(`x:${owner.adminToken}`).toString('base64')
    for (const authorization of [`Bearer ${owner.adminToken}`, `Basic ${basic}`, owner.adminToken]) {
      for (const [, operation] of all.filter(([id]) => id !== 'introspect' && id !== 'revoke')) {
        assertCode(await operation.send(origin, { authorization }, owned), 'unauthenticated', operation)
      }
    }
  })
})

describe('an API token without the scope', () => {
  for (const scope of scopes) {
    test(`with only "${scope}" cannot call operations that need another scope, for any target`, async () => {
      const headers = byToken(await createApiToken(service, 'Customer', '--scopes', scope))
      await writingNothing(service, async () => {
        for (const [turn, [id, operation]] of all.entries()) {
          if (operation.scopes.includes(scope)) continue
          const refusal = await operation.send(origin, headers, owned)
          assert.equal(refusal.status, 403, `${id}: ${refusal.text}`)
          assertCode(refusal, 'forbidden', operation)
          if (!shareOf(scopes, turn, 1).includes(scope)) continue
          const ofNobody = await operation.send(origin, headers, nobodys)
          assert.equal(withoutRequestId(refusal), withoutRequestId(ofNobody))
        }
      })
    })
  }

  test('"admin" cannot sign in to the console', async () => {
    const token = await createApiToken(service, 'Customer', '--scopes', 'read,write,introspect')
    await writingNothing(service, async () => {
      assertFault(await signingIn(origin, { api_token: token }), 'forbidden')
    })
  })
})

test('authentication and authorization come before all other checks', async () => {
  const writer = await createApiToken(service, 'Customer', '--scopes', 'read,write,introspect')
  for (const [token, code] of [
    [nobodys.apiToken, 'unauthenticated'],
    [writer, 'forbidden'],
  ] as const) {
    const api = adminApi(origin, token)
    for (const id of operationIds) {
      for (const input of [{ query: 'nonsense=1' }, { body: '{' }])
        assertRefused(await api[id](input), id, code)
    }
  }
})

/** An error code, or the assertion about a successful response. */
type Expected = FaultCode | ((body: Record<string, any>, who: Stranger) => void)

const empty = (name: string) => (body: Record<string, unknown>) => assert.deepEqual(body[name], [])
/** The operation succeeds in the stranger's environment. All tests assert that the owner's environment is unchanged. */
const doneElsewhere = () => undefined

type Made = Record<'provided_id' | 'user_group_id', string | undefined>
/** Asserts that the user groups are those that the stranger has created. */
const assertMade = (userGroups: readonly Made[]) =>
  assert.ok(userGroups.every((made) => (made.provided_id ?? made.user_group_id)?.startsWith('made')))
const promotes: ReadonlySet<string> = new Set(['listPromotionCandidates', 'promoteUserGroups'])

const expected: Record<OperationId, Expected> = {
  getOrCreate: 'name_required',
  getOrCreateByOverride: 'name_required',
  update: 'user_group_not_found',
  updateByOverride: 'user_group_not_found',
  getOrCreateByPath: 'name_required',
  updateByPath: 'user_group_not_found',
  rotateReplacedByPath: 'token_not_found',
  createSession: 'user_group_not_found',
  endSessions: 'user_group_not_found',
  rotate: 'token_not_found',
  rotateReplaced: 'token_not_found',
  rotateAgain: 'token_not_found',
  introspect: (body) => assert.deepEqual(body, { active: false }),
  revoke: (body) => assert.deepEqual(body, {}),
  readEvents: empty('events'),
  getOverview: ({ user_groups, unresolved_mappings, isolation_findings }) => {
    assert.deepEqual([unresolved_mappings.count, isolation_findings.count], [0, 0])
    assert.ok(user_groups.count <= 2)
  },
  searchUserGroups: ({ user_groups }) => assertMade(user_groups as Made[]),
  createUserGroup: doneElsewhere,
  getUserGroup: 'user_group_not_found',
  patchUserGroup: 'user_group_not_found',
  deleteUserGroup: 'user_group_not_found',
  deleteUserGroupByProvidedId: 'user_group_not_found',
  getUserGroupToken: 'user_group_not_found',
  rotateTokenOfUserGroup: 'user_group_not_found',
  suspendUserGroup: 'user_group_not_found',
  resumeUserGroup: 'user_group_not_found',
  endSessionsOfUserGroup: 'user_group_not_found',
  viewAsUserGroup: 'user_group_not_found',
  viewUserGroup: 'user_group_not_found',
  listUserGroupVersions: 'user_group_not_found',
  diffUserGroupVersions: 'user_group_not_found',
  restoreUserGroupVersion: 'user_group_not_found',
  listDeletedUserGroups: empty('user_groups'),
  eraseUserGroup: 'user_group_not_found',
  restoreDeletedUserGroup: 'user_group_not_found',
  // A name is required only if no user group has the id.
  importUserGroups: (rows) => {
    const [result, last] = rows as [{ error: { code: string } }, { summary: object }]
    assert.equal(result.error.code, 'name_required')
    const none = { created: 0, updated: 0, unchanged: 0 }
    assert.deepEqual(last.summary, { rows: 1, ...none, refused: 1, dry_run: false })
  },
  exportUserGroups: (rows) => assertMade(rows as Made[]),
  createJob: doneElsewhere,
  listJobs: empty('jobs'),
  getJob: 'not_found',
  cancelJob: 'not_found',
  listJobResults: 'not_found',
  listIsolationFindings: empty('findings'),
  exportIsolationFindings: (rows) => assert.deepEqual(rows, []),
  acceptIsolationFinding: 'not_found',
  reopenIsolationFinding: 'not_found',
  listPromotionCandidates: empty('user_groups'),
  promoteUserGroups: ({ results: [result] }) => {
    const none = {
      ...{ differences: [], team_id: null, message: null, unresolved_entries: 0 },
      suspended: { in_testing: false, in_customer: false },
    }
    assert.deepEqual(result, { provided_id: result.provided_id, outcome: 'not_found', ...none })
  },
  reportLeakedToken: (body) => assert.deepEqual(body, { success: 1, kind: 'unknown', works: false }),
  recordUsage: (body) => assert.deepEqual(body, { success: 1, accepted: 0, ignored: 1 }),
  listUsage: empty('usage'),
  exportUsage: (rows) => assert.deepEqual(rows, []),
  eraseUsage: ({ deleted }) => assert.equal(deleted, 0),
  listApiTokens: ({ api_tokens }, who) => {
    const environment = who === 'another workspace' ? 'Customer' : 'Testing'
    assert.ok(api_tokens.length > 0)
    for (const { api_environment_tag } of api_tokens) assert.equal(api_environment_tag, environment)
  },
  createApiToken: doneElsewhere,
  rotateApiToken: 'not_found',
  revokeApiToken: 'not_found',
  listConsoleSessions: ({ console_sessions }) => assert.equal((console_sessions as object[]).length, 1),
  endConsoleSession: 'not_found',
  listWorkspaces: ({ workspaces }, who) => {
    const own = who === 'the other environment' ? 'default' : 'second'
    assert.deepEqual(
      (workspaces as { name: string }[]).map(({ name }) => name),
      [own],
    )
  },
  createWorkspace: doneElsewhere,
  listAuditEvents: empty('audit_events'),
  exportAuditEvents: (rows) => assert.deepEqual(rows, []),
  exportConfiguration: ({ schemas, api_tokens }) => {
    const provided = (schemas as { provided_id: string }[]).map(({ provided_id }) => provided_id)
    assert.ok(provided.every((id) => id.startsWith('made')))
    assert.ok((api_tokens as { name: string }[]).every(({ name }) => !name.startsWith('owner')))
  },
  applyConfiguration: ({ summary }) => assert.deepEqual([summary.created, summary.refused], [1, 0]),
  listSchemas: ({ schemas }) =>
    assert.ok(
      (schemas as { provided_id: string }[]).every(({ provided_id }) => provided_id.startsWith('made')),
    ),
  createSchema: doneElsewhere,
  deleteSchema: 'not_found',
  listDataSources: empty('data_sources'),
  createDataSource: 'validation_failed',
  deleteDataSource: 'not_found',
  listWebhookEndpoints: ({ webhook_endpoints }) =>
    assert.ok((webhook_endpoints as { name: string }[]).every(({ name }) => name === 'x')),
  createWebhookEndpoint: doneElsewhere,
  getWebhookEndpoint: 'not_found',
  updateWebhookEndpoint: 'not_found',
  deleteWebhookEndpoint: 'not_found',
  rotateWebhookEndpoint: 'not_found',
  testWebhookEndpoint: 'not_found',
  listWebhookDeliveries: 'not_found',
  getWebhookDelivery: 'not_found',
  redeliverWebhook: 'not_found',
  redeliverWebhooks: 'not_found',
}

const bodyOf = (response: HttpResponse) =>
  response.headers['content-type'] === 'application/x-ndjson' ? rowsIn(response) : response.body
/** A search may end a page early because its time is over. The position of events moves on. */
const comparable = (response: HttpResponse, asked: typeof owned) =>
  withoutIds(withoutRequestId(response), asked).replace(/"(?:next_cursor|position)":(?:null|"[^"]*")/, '')

for (const [who, credentials] of Object.entries(strangers) as [Stranger, (typeof strangers)[Stranger]][]) {
  describe(`to ${who}`, () => {
    let last: Rows
    before(async () => {
      last = await rowsOf(service)
    })

    for (const [turn, [id, operation]] of all.entries()) {
      test(`${id} treats the owner's data as absent and does not change it`, async () => {
        const wanted = promotes.has(id) && who !== 'another workspace' ? 'forbidden' : expected[id]
        const isAskedBySession = shareOf(Object.keys(strangers), turn, 1).includes(who)
        for (const how of isAskedBySession ? (['byToken', 'bySession'] as const) : (['byToken'] as const)) {
          const headers = credentials[how]
          const theirs = await operation.send(origin, headers, owned)
          const code = how === 'bySession' && !operation.takesSession ? 'unauthenticated' : wanted
          if (typeof code === 'string') assertCode(theirs, code as ErrorCode, operation)
          else code(bodyOf(theirs), who)
          assert.doesNotMatch(theirs.text, new RegExp(secretName))
          if (code === doneElsewhere) assert.equal(theirs.status, 201, theirs.text)
          // Each configuration deletes what the one before has created.
          else if (id !== 'applyConfiguration') {
            const ofNobody = await operation.send(origin, headers, nobodys)
            assert.equal(theirs.status, ofNobody.status)
            assert.equal(comparable(theirs, owned), comparable(ofNobody, nobodys))
          }
        }
        const rows = await rowsOf(service)
        assertOnlyTheirs(credentials.tenantScope, last, rows)
        last = rows
      })
    }
  })
}

test('an id that another workspace uses, used or has not used yet gets the same response', async () => {
  await runCommand(service, 'workspace', 'create', 'third')
  const { byToken: headers } = await there('Customer', 'third')
  const withId = (id: number) =>
    Object.fromEntries(
      Object.entries(nobodys).map(([name, value]) => [name, typeof value === 'number' ? id : value]),
    ) as unknown as typeof nobodys
  for (const [id, operation] of all.filter(([, { route }]) => route.includes('id}'))) {
    const responses = new Set<string>()
    const ids = [owned.teamId, owned.deletedTeamId, owned.deletedTeamId + 1, 2 ** 31, Number.MAX_SAFE_INTEGER]
    for (const one of ids) {
      const response = await operation.send(origin, headers, withId(one))
      const names = Object.keys(response.headers).sort().join()
      responses.add(`${response.status} ${names} ${comparable(response, nobodys)}`)
    }
    assert.equal(responses.size, 1, `${id}: ${[...responses].join('\n')}`)
  }
})

test('a leaked API token of another environment is unknown and stays valid', async () => {
  for (const environment of ['Customer', 'Testing'] as const) {
    const { admin: other, adminToken } = await manage(service, environment, 'second')
    const unknown = { success: 1, kind: 'unknown', works: false }
    for (const [reporter, token] of [
      [admin, adminToken],
      [other, owned.apiToken],
    ] as const) {
      const report = { body: { token, rotate: true } }
      assert.deepEqual(
        assertSucceeded(await reporter.reportLeakedToken(report), 'reportLeakedToken'),
        unknown,
      )
    }
    assertSucceeded(await other.listWorkspaces(), 'listWorkspaces')
  }
})

describe('to its owner', () => {
  // Runs last and deletes last. Each operation succeeds, so the refusals above were not due to missing data.
  const removing: OperationId[] = [
    ...([
      'eraseUserGroup',
      'deleteUserGroup',
      'deleteUserGroupByProvidedId',
      'deleteSchema',
      'deleteDataSource',
      'deleteWebhookEndpoint',
      'applyConfiguration',
    ] as const),
    'revokeApiToken',
  ]
  const inOrder = [...all.filter(([id]) => !removing.includes(id)).map(([id]) => id), ...removing]
  const isManagement = (id: OperationId): id is AdminOperationId =>
    (operationIds as readonly string[]).includes(id)
  for (const id of inOrder) {
    test(`${id} succeeds`, async () => {
      // It was restored.
      if (id === 'eraseUserGroup') await admin.deleteUserGroup({ params: { team_id: owned.deletedTeamId } })
      if (id === 'deleteDataSource') {
        const { user_groups } = assertSucceeded<{ user_groups: { team_id: number }[] }>(
          await admin.searchUserGroups(),
          'searchUserGroups',
        )
        for (const one of user_groups) await admin.patchUserGroup({ ...of(one), body: { mapping: null } })
      }
      const response = await operations[id].send(origin, byToken(ownersToken), owned)
      if (id === 'rotateReplaced' || id === 'rotateReplacedByPath') assertFault(response, 'token_superseded')
      else if (isManagement(id)) assertSucceeded(response, id)
      else assert.equal(response.status, 200, response.text)
      if (id === 'introspect') assert.equal((response.body as { active: boolean }).active, true)
      if (id === 'readEvents') assert.ok((response.body as { events: object[] }).events.length > 0)
    })
  }
})
