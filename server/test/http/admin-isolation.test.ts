import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AdminOperationId } from '../../src/contract/admin-operations.ts'
import type { FaultCode } from '../../src/domain/fault.ts'
import {
  adminApi,
  assertAnswers,
  assertRefused,
  manage,
  of,
  operationIds,
  startManaged,
  type AdminApi,
  type AdminInput,
} from '../support/admin-api.ts'
import { writingNothing } from '../support/kept.ts'
import { createApiToken, runCommand } from '../support/command.ts'

const owner = await startManaged({ after })
const { service, admin } = owner
await runCommand(service, 'workspace', 'create', 'second')
const strangers = {
  'another workspace': await manage(service, 'Customer', 'second'),
  'the other environment': await manage(service, 'Testing'),
  'the other environment of another workspace': await manage(service, 'Testing', 'second'),
}
type Stranger = keyof typeof strangers

// What the owner has: of each kind one that could be found, changed or removed.
const group = await owner.create('secret group', {
  name: 'Secret name',
  mapping: { sales: 'eu', nowhere: 'nothing' },
  properties: { secret: 'property' },
})
await owner.create('sharing', { mapping: { sales: 'eu' } })
await admin.patchUserGroup({ ...of(group), body: { name: 'Secret new name' } })
const deleted = await owner.create('secret deleted')
await admin.deleteUserGroup(of(deleted))
const { schema } = assertAnswers<{ schema: { id: number } }>(
  await admin.createSchema({ body: { provided_id: 'sales', name: 'Secret schema' } }),
  'createSchema',
)
const { data_source } = assertAnswers<{ data_source: { id: number } }>(
  await admin.createDataSource({ body: { schema_id: schema.id, provided_id: 'eu', name: 'Secret source' } }),
  'createDataSource',
)
const unused = assertAnswers<{ schema: { id: number } }>(
  await admin.createSchema({ body: { provided_id: 'unused', name: 'Secret unused' } }),
  'createSchema',
).schema
const { api_token: ownApiToken, token: ownToken } = assertAnswers<{
  api_token: { id: number }
  token: string
}>(await admin.createApiToken({ body: { name: 'Secret token', scopes: ['read'] } }), 'createApiToken')

const outsiders: Record<string, { token: string | undefined; code: FaultCode }> = {
  'no API token': { token: undefined, code: 'unauthenticated' },
  'a user group token': { token: group.token, code: 'unauthenticated' },
  'a made-up API token': { token: `${owner.adminToken.slice(0, -1)}!`, code: 'unauthenticated' },
  'an API token with every scope but admin': {
    token: await createApiToken(service, 'Customer', '--scopes', 'read,write,introspect'),
    code: 'forbidden',
  },
  'an API token that expired': { token: await expired(), code: 'unauthenticated' },
  'an API token that was revoked': { token: await revoked(), code: 'unauthenticated' },
}

async function expired(): Promise<string> {
  const body = { name: 'expired', scopes: ['admin'], expires_in_seconds: 1 }
  const { token } = assertAnswers<{ token: string }>(await admin.createApiToken({ body }), 'createApiToken')
  const api = adminApi(service.origin, token)
  while ((await api.listWorkspaces()).status === 200);
  return token
}

async function revoked(): Promise<string> {
  const body = { name: 'revoked', scopes: ['admin'] }
  const { token } = assertAnswers<{ token: string }>(await admin.createApiToken({ body }), 'createApiToken')
  assertAnswers(await admin.reportLeakedToken({ body: { token, rotate: true } }), 'reportLeakedToken')
  return token
}

interface Case {
  /** A call that the owner may make. */
  readonly input: AdminInput
  /** What a stranger is answered: a fault, or what is asserted of an answer that succeeds. */
  readonly stranger: FaultCode | ((body: Record<string, unknown>, who: Stranger) => void)
}

const empty = (name: string) => (body: Record<string, unknown>) => assert.deepEqual(body[name], [])
const ofGroup = (rest: AdminInput = {}): Case => ({
  input: { ...rest, params: { ...of(group).params, ...rest.params } },
  stranger: 'user_group_not_found',
})
/** It is done, in the stranger's own environment: that the owner's is as it was is asserted of all. */
const doneElsewhere = () => undefined

const cases: Record<AdminOperationId, Case> = {
  searchUserGroups: { input: {}, stranger: empty('user_groups') },
  getUserGroup: ofGroup(),
  patchUserGroup: ofGroup({ body: { name: 'Taken' } }),
  deleteUserGroup: ofGroup(),
  getUserGroupToken: ofGroup(),
  rotateTokenOfUserGroup: ofGroup({ body: {} }),
  suspendUserGroup: ofGroup(),
  resumeUserGroup: ofGroup(),
  viewUserGroup: ofGroup(),
  listUserGroupVersions: ofGroup(),
  diffUserGroupVersions: ofGroup({ params: { revision: 1 } }),
  restoreUserGroupVersion: ofGroup({ params: { revision: 1 } }),
  listDeletedUserGroups: { input: {}, stranger: empty('user_groups') },
  restoreDeletedUserGroup: { input: of(deleted), stranger: 'user_group_not_found' },
  importUserGroups: {
    input: { body: { user_group_id: 'secret group', properties: { taken: true } } },
    // A name is required only where no user group has the id.
    stranger: (rows) => {
      const [result, last] = rows as unknown as [{ error: { code: string } }, { summary: object }]
      assert.equal(result.error.code, 'name_required')
      const none = { created: 0, updated: 0, unchanged: 0 }
      assert.deepEqual(last.summary, { rows: 1, ...none, refused: 1, dry_run: false })
    },
  },
  exportUserGroups: { input: {}, stranger: (rows) => assert.deepEqual(rows, []) },
  listIsolationFindings: { input: {}, stranger: empty('findings') },
  promoteUserGroups: {
    input: { body: { user_group_ids: ['secret group'] } },
    stranger: ({ results }) => {
      const none = { differences: [], team_id: null, message: null }
      assert.deepEqual(results, [{ provided_id: 'secret group', outcome: 'not_found', ...none }])
    },
  },
  reportLeakedToken: {
    input: { body: { token: group.token, rotate: true } },
    stranger: (body) => assert.deepEqual(body, { success: 1, kind: 'unknown', works: false }),
  },
  listApiTokens: {
    input: {},
    stranger: ({ api_tokens }, who) => {
      const tags = (api_tokens as { api_environment_tag: string }[]).map(
        ({ api_environment_tag }) => api_environment_tag,
      )
      assert.deepEqual(new Set(tags), new Set([who === 'another workspace' ? 'Customer' : 'Testing']))
    },
  },
  createApiToken: { input: { body: { name: 'x', scopes: ['admin'] } }, stranger: doneElsewhere },
  rotateApiToken: { input: { params: { id: ownApiToken.id }, body: {} }, stranger: 'not_found' },
  revokeApiToken: { input: { params: { id: ownApiToken.id } }, stranger: 'not_found' },
  listWorkspaces: {
    input: {},
    stranger: ({ workspaces }, who) =>
      assert.deepEqual(
        (workspaces as { name: string }[]).map(({ name }) => name),
        [who === 'the other environment' ? 'default' : 'second'],
      ),
  },
  createWorkspace: { input: { body: { name: 'third' } }, stranger: doneElsewhere },
  listAuditEvents: {
    input: {},
    // It has what strangers did themselves, of which nothing is a user group.
    stranger: ({ audit_events }) => {
      const events = audit_events as { user_group: unknown }[]
      assert.ok(events.every(({ user_group }) => user_group === null))
    },
  },
  listSchemas: { input: {}, stranger: empty('schemas') },
  createSchema: { input: { body: { provided_id: 'sales 2', name: 'x' } }, stranger: doneElsewhere },
  deleteSchema: { input: { params: { id: unused.id } }, stranger: 'not_found' },
  listDataSources: { input: {}, stranger: empty('data_sources') },
  createDataSource: {
    input: { body: { schema_id: schema.id, provided_id: 'us', name: 'x' } },
    stranger: 'validation_failed',
  },
  deleteDataSource: { input: { params: { id: data_source.id } }, stranger: 'not_found' },
}

/** All that the owner can see; of isolation findings the search, whose time is short, has several pages. */
async function stateOf(api: AdminApi): Promise<unknown[]> {
  const findings: unknown[] = []
  let cursor: string | null = null
  do {
    const page: { findings: unknown[]; next_cursor: string | null } = assertAnswers(
      await api.listIsolationFindings({ query: { ...(cursor !== null && { cursor }) } }),
      'listIsolationFindings',
    )
    findings.push(...page.findings)
    cursor = page.next_cursor
  } while (cursor !== null)
  const reads = [
    ...(['searchUserGroups', 'listDeletedUserGroups', 'listApiTokens'] as const),
    ...(['listWorkspaces', 'listSchemas', 'listDataSources', 'listAuditEvents'] as const),
  ].map((id) => api[id]())
  const ofOne = (['getUserGroupToken', 'viewUserGroup', 'listUserGroupVersions'] as const).map((id) =>
    api[id](of(group)),
  )
  const texts = await Promise.all([...reads, ...ofOne].map(async (answer) => (await answer).text))
  // When an API token was last used is written down when there is time.
  return [findings, ...texts.map((text) => text.replaceAll(/"last_used_at":[^,]+/g, ''))]
}

test('each operation has a case', () => {
  assert.deepEqual(Object.keys(cases), operationIds)
})

for (const id of operationIds) {
  const { input, stranger } = cases[id]
  for (const [who, { admin: other }] of Object.entries(strangers) as [Stranger, typeof owner][]) {
    test(`${id} by an API token of ${who} finds nothing and leaves all as it was`, async () => {
      const before = await stateOf(admin)
      const body =
        id === 'createWorkspace' ? { body: { name: `of ${who}` } } : id === 'createSchema' ? input : {}
      const answer = await other[id]({ ...input, ...body })
      // What comes into Customer is decided there.
      const expected = id === 'promoteUserGroups' && who !== 'another workspace' ? 'forbidden' : stranger
      if (typeof expected === 'string') {
        const fields = expected === 'validation_failed' ? ['/schema_id'] : []
        assertRefused(answer, id, expected, fields)
      } else expected(assertAnswers(answer, id), who)
      assert.doesNotMatch(answer.text, /Secret/)
      assert.deepEqual(await stateOf(admin), before)
    })
  }
}

for (const [what, { token, code }] of Object.entries(outsiders)) {
  test(`with ${what} no operation does anything`, async () => {
    const api = adminApi(service.origin, token)
    await writingNothing(service, async () => {
      for (const id of operationIds) {
        const refusal = await api[id](cases[id].input)
        assertRefused(refusal, id, code)
        assert.doesNotMatch(refusal.text, /Secret/)
        // It is judged before anything else of the call is.
        for (const input of [
          { ...cases[id].input, query: 'nonsense=1' },
          { ...cases[id].input, body: '{' },
        ])
          assertRefused(await api[id](input), id, code)
      }
    })
  })
}

test('a scheme but Token is refused', async () => {
  const api = adminApi(service.origin)
  const basic = Buffer.from(`x:${owner.adminToken}`).toString('base64')
  for (const authorization of [`Bearer ${owner.adminToken}`, `Basic ${basic}`, owner.adminToken]) {
    for (const id of operationIds) {
      const answer = await api[id]({ ...cases[id].input, headers: { authorization } })
      assertRefused(answer, id, 'unauthenticated')
    }
  }
})

test('an API token of another environment that leaked is unknown, and goes on', async () => {
  for (const { admin: other, adminToken } of Object.values(strangers)) {
    const report = { body: { token: adminToken, rotate: true } }
    const expected = { success: 1, kind: 'unknown', works: false }
    assert.deepEqual(assertAnswers(await admin.reportLeakedToken(report), 'reportLeakedToken'), expected)
    assertAnswers(await other.listWorkspaces(), 'listWorkspaces')
    const own = { body: { token: ownToken, rotate: true } }
    assert.deepEqual(assertAnswers(await other.reportLeakedToken(own), 'reportLeakedToken'), expected)
  }
})

// Last, and with what would be removed last: each succeeds, and shows a token only where its schema says so.
const removing: AdminOperationId[] = ['deleteUserGroup', 'deleteSchema', 'deleteDataSource', 'revokeApiToken']
for (const id of [...operationIds.filter((id) => !removing.includes(id)), ...removing]) {
  test(`to its owner, ${id} answers what it is for`, async () => {
    if (id === 'deleteDataSource') {
      const { user_groups } = assertAnswers<{ user_groups: { team_id: number }[] }>(
        await admin.searchUserGroups(),
        'searchUserGroups',
      )
      for (const one of user_groups) await admin.patchUserGroup({ ...of(one), body: { mapping: null } })
    }
    assertAnswers(await admin[id](cases[id].input), id)
  })
}
