import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { assertSucceeded, of, startManaged, type AdminInput } from '../support/admin-api.ts'
import { giveBelongings } from '../support/belongings.ts'
import { createApiToken } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { runUgs } from '../support/service.ts'
import type { AdminOperationId } from '../../src/http/admin/operations.ts'

const owner = await startManaged({ after })
const { service, admin, create } = owner
const owned = await giveBelongings(owner)
const changed = await create('changed twice', { name: 'A', properties: { a: 1.5, b: null } })
assertSucceeded(await admin.patchUserGroup({ ...of(changed), body: { name: 'B' } }), 'patchUserGroup')
assertSucceeded(await admin.suspendUserGroup(of(changed)), 'suspendUserGroup')

type Json = Readonly<Record<string, unknown>>

/** Runs a command with `--json` and returns what it prints. */
async function ugs(line: string, args: readonly (string | number)[] = [], input = ''): Promise<unknown> {
  const settings = {
    UGS_DATA_DIR: service.dataFolder,
    ...(service.databaseUrl !== undefined && { DATABASE_URL: service.databaseUrl }),
  }
  const { code, stdout, stderr } = await runUgs(
    [...line.split(' '), ...args.map(String), '--json'],
    settings,
    input,
  )
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

/** Returns the response of the API without `success`, and all pages of a list. A page may end early. */
async function api(id: AdminOperationId, input: AdminInput = {}): Promise<Json> {
  let all: Json = {}
  let query = input.query
  for (;;) {
    const { success, next_cursor, ...rest } = assertSucceeded<Json>(
      await admin[id]({ ...input, ...(query !== undefined && { query }) }),
      id,
    )
    assert.equal(success, 1)
    all = Object.fromEntries(
      Object.entries(rest).map(([name, value]) => [
        name,
        Array.isArray(value)
          ? [...((all[name] as unknown[] | undefined) ?? []), ...(value as unknown[])]
          : value,
      ]),
    )
    if (typeof next_cursor !== 'string') return all
    query = { ...(input.query as object), cursor: next_cursor }
  }
}

const inCustomer = ['--environment', 'Customer']
const day = new Date().toISOString().slice(0, 10)
const marks = [{ team_id: owned.teamId, resource: 'sales', day }]
const introspectToken = await createApiToken(service, 'Customer', '--scopes', 'introspect')
await sendRequest(service.origin, { method: 'POST', path: '/usage', token: introspectToken, body: { marks } })
await ugs('user-group get-or-create', ['tested', '--name', 'A', '--environment', 'Testing'])
const endpoint = { params: { id: owned.webhookEndpointId } }

interface Comparison {
  readonly args?: readonly (string | number)[]
  readonly stdin?: string
  readonly operation: AdminOperationId
  readonly input?: AdminInput
  /** The member of the response that the command prints. Default: the whole response. */
  readonly member?: string
}

const reads: Record<string, Comparison> = {
  'workspace list': { operation: 'listWorkspaces', member: 'workspaces' },
  'schema list': { args: inCustomer, operation: 'listSchemas', member: 'schemas' },
  'data-source list': { args: inCustomer, operation: 'listDataSources', member: 'data_sources' },
  'user-group search': {
    args: ['--name', 'Secret', ...inCustomer],
    operation: 'searchUserGroups',
    input: { query: { name: 'Secret' } },
    member: 'user_groups',
  },
  'user-group show': {
    args: ['changed twice', ...inCustomer],
    operation: 'getUserGroup',
    input: of(changed),
    member: 'user_group',
  },
  'user-group view': {
    args: [owned.userGroupId, ...inCustomer],
    operation: 'viewUserGroup',
    input: { params: { team_id: owned.teamId } },
  },
  'user-group versions': {
    args: ['changed twice', ...inCustomer],
    operation: 'listUserGroupVersions',
    input: of(changed),
    member: 'versions',
  },
  'job list': { args: inCustomer, operation: 'listJobs', member: 'jobs' },
  'job show': {
    args: [owned.jobId, ...inCustomer],
    operation: 'getJob',
    input: { params: { id: owned.jobId } },
    member: 'job',
  },
  'job results': {
    args: [owned.jobId, ...inCustomer],
    operation: 'listJobResults',
    input: { params: { id: owned.jobId } },
    member: 'results',
  },
  'user-group list-deleted': {
    args: inCustomer,
    operation: 'listDeletedUserGroups',
    member: 'user_groups',
  },
  'isolation-finding list': { args: inCustomer, operation: 'listIsolationFindings', member: 'findings' },
  'user-group promote': {
    args: ['tested', '--dry-run'],
    operation: 'promoteUserGroups',
    input: { body: { user_group_ids: ['tested'], dry_run: true } },
    member: 'results',
  },
  'user-group whose-token': {
    args: inCustomer,
    stdin: owned.replacedToken,
    operation: 'reportLeakedToken',
    input: { body: { token: owned.replacedToken } },
  },
  'console-session list': {
    args: inCustomer,
    operation: 'listConsoleSessions',
    member: 'console_sessions',
  },
  'usage list': {
    args: [...inCustomer, '--month', day.slice(0, 7), '--by', 'resource'],
    operation: 'listUsage',
    input: { query: { month: day.slice(0, 7), by: 'resource' } },
    member: 'usage',
  },
  'webhook list': { args: inCustomer, operation: 'listWebhookEndpoints', member: 'webhook_endpoints' },
  'config export': { args: inCustomer, operation: 'exportConfiguration' },
  'webhook deliveries': {
    args: [owned.webhookEndpointId, ...inCustomer],
    operation: 'listWebhookDeliveries',
    input: endpoint,
    member: 'deliveries',
  },
  'webhook delivery': {
    args: [owned.webhookEndpointId, owned.webhookDeliveryId, ...inCustomer],
    operation: 'getWebhookDelivery',
    input: { params: { id: owned.webhookEndpointId, delivery_id: owned.webhookDeliveryId } },
    member: 'delivery',
  },
}

describe('--json prints the fields of the API', () => {
  for (const [command, { args, stdin, operation, input, member }] of Object.entries(reads)) {
    it(`ugs ${command}`, async () => {
      const shown = async () => {
        const response = await api(operation, input)
        return member === undefined ? response : response[member]
      }
      // The service writes deliveries in the background.
      let before: unknown
      let printed: unknown
      let expected = await shown()
      do {
        before = expected
        printed = await ugs(command, args, stdin)
        expected = await shown()
      } while (!isDeepStrictEqual(before, expected))
      // Also in the order of the names.
      assert.equal(JSON.stringify(printed, null, 2), JSON.stringify(expected, null, 2))
      assert.notDeepEqual(printed, [])
    })
  }

  it('ugs user-group list', async () => {
    const listed = (await ugs('user-group list', inCustomer)) as Json[]
    const shown = await Promise.all(
      listed.map(async ({ team_id }) => {
        const { user_group } = await api('getUserGroup', { params: { team_id: team_id as number } })
        return user_group
      }),
    )
    assert.deepEqual(listed, shown)
    assert.equal(listed.length, 4)
  })

  it('ugs api-token list, with the workspace', async () => {
    const { api_tokens } = await api('listApiTokens')
    const listed = ((await ugs('api-token list')) as Json[])
      .filter((token) => token.api_environment_tag === 'Customer')
      .map(({ workspace, ...token }) => {
        assert.equal(workspace, 'default')
        return token
      })
    assert.deepEqual(listed, api_tokens)
  })

  it('ugs audit list, with the environment', async () => {
    const { audit_events } = await api('listAuditEvents', { query: { limit: 200 } })
    const listed = ((await ugs('audit list', inCustomer)) as Json[]).map(
      ({ api_environment_tag, ...event }) => {
        assert.equal(api_environment_tag, 'Customer')
        return event
      },
    )
    assert.deepEqual(listed, audit_events)
  })

  it('commands that change something print what the API then returns', async () => {
    const schema = (await ugs('schema create', [
      '--provided-id',
      'new',
      '--name',
      'New',
      ...inCustomer,
    ])) as Json
    assert.deepEqual((await api('listSchemas')).schemas, [
      ...((await ugs('schema list', inCustomer)) as Json[]).filter(({ id }) => id !== schema.id),
      schema,
    ])
    const dataSource = (await ugs('data-source create', [
      ...['--schema', 'new', '--provided-id', 'new', '--name', 'New'],
      ...inCustomer,
    ])) as Json
    assert.deepEqual(((await api('listDataSources')).data_sources as Json[]).at(-1), dataSource)
    for (const [command, id] of [
      ['data-source delete', dataSource.id],
      ['schema delete', schema.id],
    ] as const)
      assert.deepEqual(await ugs(command, [id as number, ...inCustomer]), { deleted: true })

    const userGroup = async () => (await api('getUserGroup', of(changed))).user_group
    for (const command of ['resume', 'suspend', 'undo'])
      assert.deepEqual(
        await ugs(`user-group ${command}`, ['changed twice', ...inCustomer]),
        await userGroup(),
      )
    assert.deepEqual(await ugs('session end', ['changed twice', ...inCustomer]), await userGroup())
    assert.deepEqual(
      await ugs('user-group update', ['changed twice', '--properties', '{"c":1}', ...inCustomer]),
      { new_user_group: false, user_group: await userGroup() },
    )
    const { token, ...rest } = (
      (await ugs('user-group get-or-create', ['changed twice', ...inCustomer])) as { user_group: Json }
    ).user_group
    assert.deepEqual([rest, { token }], [await userGroup(), await api('getUserGroupToken', of(changed))])
    const rotated = (await ugs('user-group rotate', ['changed twice', ...inCustomer])) as { user_group: Json }
    assert.deepEqual(Object.keys(rotated), ['user_group'])
    assert.deepEqual(Object.keys(rotated.user_group), [
      'team_id',
      'token',
      'name',
      'provided_id',
      'api_environment_tag',
    ])
    assert.deepEqual(await ugs('user-group delete', ['changed twice', ...inCustomer]), { deleted: true })
    assert.deepEqual(await ugs('user-group restore', [changed.team_id, ...inCustomer]), await userGroup())

    const finding = ['unresolved', 'nowhere', 'nothing']
    const accepted = await ugs('isolation-finding accept', [...finding, '--reason', 'Later', ...inCustomer])
    const { findings } = await api('listIsolationFindings', { query: { kind: 'unresolved' } })
    assert.deepEqual([accepted], findings)
    assert.deepEqual(await ugs('isolation-finding reopen', [...finding, ...inCustomer]), { reopened: true })

    const webhookEndpoint = async () =>
      withoutCounts((await api('getWebhookEndpoint', endpoint)).webhook_endpoint as Json)
    for (const [command, ...options] of [['update', '--name', 'Changed'], ['pause']])
      assert.deepEqual(
        withoutCounts(
          (await ugs(`webhook ${command}`, [owned.webhookEndpointId, ...options, ...inCustomer])) as Json,
        ),
        await webhookEndpoint(),
      )
    const { secret, ...replaced } = (await ugs('webhook rotate-secret', [
      owned.webhookEndpointId,
      ...inCustomer,
    ])) as Json
    assert.deepEqual([withoutCounts(replaced), typeof secret], [await webhookEndpoint(), 'string'])

    const apiToken = async (id: unknown) =>
      ((await api('listApiTokens')).api_tokens as Json[]).find((one) => one.id === id)
    const { token: issued, ...created } = (await ugs('api-token create', [
      '--name',
      'x',
      ...inCustomer,
    ])) as Json
    assert.deepEqual([created, typeof issued], [await apiToken(created.id), 'string'])
    assert.deepEqual(await ugs('api-token limit', [created.id as number, '5:10']), await apiToken(created.id))
    const {
      token: next,
      replaces,
      ...renewed
    } = (await ugs('api-token rotate', [created.id as number])) as Json
    assert.deepEqual(
      [renewed, replaces, typeof next],
      [await apiToken(renewed.id), await apiToken(created.id), 'string'],
    )
    assert.deepEqual(await ugs('console-session end', [owned.consoleSessionId, ...inCustomer]), {
      ended: true,
    })
    assert.deepEqual(await ugs('api-token revoke', [renewed.id as number]), await apiToken(renewed.id))
  })
})

/** Removes the counts of events, of which the service writes deliveries in the background. */
function withoutCounts({ pending, oldest_event_at: oldest, ...endpoint }: Json): Json {
  assert.deepEqual([typeof pending, oldest === undefined], ['number', false])
  return endpoint
}
