import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminApi, manage, of } from '../support/admin-api.ts'
import { runCommand } from '../support/command.ts'
import { sharedService, type CommandResult } from '../support/service.ts'

interface EventJson {
  readonly api_environment_tag: string
  readonly event_id: string
  readonly occurred_at: string
  readonly action: string
  readonly author: string
  readonly request_id: string | null
  readonly user_group: { readonly team_id: number; readonly provided_id: string } | null
  readonly details: unknown
}

const operator = `cli:${userInfo().username}`

describe('ugs audit', () => {
  const service = sharedService()

  /** Runs a command line, followed by arguments that are not split. */
  const ugs = (line: string, ...rest: string[]) => service().ugs(...line.split(' '), ...rest)

  function done({ code, stdout, stderr }: CommandResult): string {
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
  }
  const list = async (...options: string[]) =>
    JSON.parse(done(await ugs('audit list --json', ...options))) as EventJson[]
  const actions = (events: readonly EventJson[]) => events.map(({ action }) => action)

  /** Creates a workspace and returns the options that select it. */
  const ownWorkspace = async (name: string) => {
    await ugs('workspace create', name)
    return ['--workspace', name]
  }
  const createSchema = (id: string, environment: string, where: string[]) =>
    ugs('schema create --name A --environment', environment, '--provided-id', id, ...where)

  it('list shows both environments in the order of time, or one environment', async () => {
    const where = await ownWorkspace('both')
    for (const [id, environment] of [
      ['a', 'Testing'],
      ['b', 'Customer'],
      ['c', 'Testing'],
    ] as const)
      done(await createSchema(id, environment, [...where, '--json']))
    const all = await list(...where)
    assert.deepEqual(
      all.map(({ action, api_environment_tag, author, request_id }) => [
        ...[action, api_environment_tag, author, request_id],
      ]),
      [
        ['schema.created', 'Testing', operator, null],
        ['schema.created', 'Customer', operator, null],
        ['schema.created', 'Testing', operator, null],
        ['workspace.created', 'Customer', operator, null],
      ],
    )
    assert.deepEqual(Object.keys(all[0] ?? {}), [
      ...['api_environment_tag', 'event_id', 'occurred_at', 'action', 'author', 'request_id'],
      ...['client_address', 'user_agent', 'user_group', 'details'],
    ])
    for (const environment of ['Customer', 'Testing']) {
      assert.deepEqual(
        await list(...where, '--environment', environment),
        all.filter(({ api_environment_tag }) => api_environment_tag === environment),
      )
    }
    for (const limit of [1, 2, 3, 4, 5])
      assert.deepEqual(await list(...where, '--limit', String(limit)), all.slice(0, limit))
  })

  it('list shows the newest 100 events by default, and reads as many pages as needed', async () => {
    const where = await ownWorkspace('many')
    const { admin } = await manage(service(), 'Testing', 'many')
    const rows = Array.from({ length: 250 }, (_, i) => JSON.stringify({ user_group_id: `g${i}`, name: 'A' }))
    assert.equal((await admin.importUserGroups({ body: rows.join('\n') })).status, 200)
    assert.equal((await list(...where)).length, 100)
    const created = await list(...where, '--limit', '1000', '--action', 'user_group.created')
    assert.equal(created.length, 250)
    assert.equal(new Set(created.map(({ event_id }) => event_id)).size, 250)
  })

  it('list filters events', async () => {
    const where = await ownWorkspace('narrowed')
    const { admin, create } = await manage(service(), 'Customer', 'narrowed')
    const group = await create('one')
    await create('two')
    const { headers } = await admin.suspendUserGroup(of(group))
    const requestId = headers['x-request-id'] ?? ''
    const all = await list(...where)
    const of_ = (...options: string[]) => list(...where, ...options)
    const ofOne = await of_('--user-group', 'one')
    assert.deepEqual(actions(ofOne), ['user_group.suspended', 'user_group.created'])
    await admin.deleteUserGroup(of(group))
    assert.deepEqual((await of_('--user-group', 'one')).slice(1), ofOne)
    assert.deepEqual(await of_('--user-group', 'three'), [])
    assert.deepEqual(await of_('--request-id', requestId), ofOne.slice(0, 1))
    assert.deepEqual(await of_('--action', 'user_group.suspended'), ofOne.slice(0, 1))
    const ofOperator = await of_('--author', operator)
    assert.deepEqual(
      ofOperator,
      all.filter(({ author }) => author === operator),
    )
    assert.deepEqual(actions(ofOperator).at(-1), 'workspace.created')
    assert.deepEqual(await of_('--author', operator, '--user-group', 'one'), [])
    const ofAuthor = await of_('--author', ofOne[0]?.author ?? '', '--action', 'user_group.suspended')
    assert.deepEqual(ofAuthor, ofOne.slice(0, 1))
  })

  it('list takes a time or a duration ago', async () => {
    const where = await ownWorkspace('times')
    done(await createSchema('a', 'Testing', [...where, '--json']))
    const all = await list(...where)
    const [{ occurred_at } = { occurred_at: '' }] = all
    assert.deepEqual(await list(...where, '--since', '1h'), all)
    assert.deepEqual(await list(...where, '--since', '1h', '--until', '2099-01-01'), all)
    assert.deepEqual(await list(...where, '--until', '1h'), [])
    assert.deepEqual(await list(...where, '--since', '2099-01-01T00:00:00Z'), [])
    assert.deepEqual(
      (await list(...where, '--since', occurred_at)).map(({ event_id }) => event_id),
      all.filter((event) => event.occurred_at >= occurred_at).map(({ event_id }) => event_id),
    )
    assert.deepEqual(
      await list(...where, '--until', occurred_at),
      all.filter((event) => event.occurred_at < occurred_at),
    )
  })

  it('list prints a table', async () => {
    const where = await ownWorkspace('table')
    assert.match(
      done(await ugs('audit list --environment Testing', ...where)),
      /^OCCURRED {2}ENVIRONMENT {2}ACTION {2}AUTHOR {2}USER_GROUP_ID {2}REQUEST_ID {2}CLIENT_ADDRESS {2}DETAILS\n$/,
    )
    const { create, admin } = await manage(service(), 'Testing', 'table')
    const createdUserGroup = await create('a b')
    const { headers } = await admin.patchUserGroup({ ...of(createdUserGroup), body: { name: 'B' } })
    const [, updated = '', created = '', ...others] = done(
      await ugs('audit list --environment Testing', ...where),
    ).split('\n')
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
    const requestId = headers['x-request-id'] ?? ''
    assert.match(
      updated,
      new RegExp(
        String.raw`^${time}  Testing +user_group\.updated +api_token:\d+ +a b +${requestId} +127\.0\.0\.1 +\{"changed_fields":\["name"\]\}$`,
      ),
    )
    assert.match(
      created,
      new RegExp(
        String.raw`^${time}  Testing +user_group\.created +api_token:\d+ +a b +[\w-]+ +127\.0\.0\.1 +-$`,
      ),
    )
    assert.match(others[0] ?? '', /api_token\.created +cli:\S+ +- +- +- +\{"api_token_id"/)
  })

  it('list shows changes by other commands, and no token', async () => {
    const where = await ownWorkspace('commands')
    const here = ['--environment', 'Testing', ...where]
    const token = (
      await runCommand(service(), ...'api-token create --scopes admin --name x'.split(' '), ...here)
    ).trim()
    const admin = adminApi(service().origin, token)
    await admin.importUserGroups({ body: '{"user_group_id":"a","name":"A"}' })
    const rotated = (await runCommand(service(), 'user-group', 'rotate', 'a', ...here)).trim()
    done(await ugs('user-group delete a --json', ...here))
    const text = done(await ugs('audit list --json', ...where))
    for (const secret of [token, rotated]) {
      assert.match(secret, /^ug[at]_testing_\w+$/)
      assert.ok(!text.includes(secret))
    }
    assert.doesNotMatch(text, /ug[at]_(customer|testing)_/)
    assert.deepEqual(
      (JSON.parse(text) as EventJson[]).map(({ action, author }) => [action, author === operator]),
      [
        ['user_group.deleted', true],
        ['user_group.token_rotated', true],
        ['user_group.created', false],
        ['api_token.created', true],
        ['workspace.created', true],
      ],
    )
  })

  it('prune keeps newer events and prints the number of deleted ones', async () => {
    const where = await ownWorkspace('kept')
    const before = await list(...where)
    const { code, stdout, stderr } = await ugs('audit prune --older-than 90d')
    assert.deepEqual([code, stdout, stderr], [0, '', 'Deleted 0 events.\n'])
    assert.deepEqual(JSON.parse(done(await ugs('audit prune --older-than 52w --json'))), { pruned: 0 })
    assert.deepEqual(await list(...where), before)
  })

  it('prune deletes older events of all workspaces and environments, and logs the deletion', async () => {
    const where = await ownWorkspace('pruned')
    done(await createSchema('a', 'Testing', [...where, '--json']))
    const [newest] = await list(...where)
    const time = Date.parse(newest?.occurred_at ?? '')
    // Waits until all events are older than one second, the shortest duration.
    while (Date.now() <= time + 1000) await sleep(20)
    const { pruned } = JSON.parse(done(await ugs('audit prune --older-than 1s --json'))) as { pruned: number }
    assert.ok(pruned >= 4)
    for (const of of [where, []]) {
      for (const environment of ['Customer', 'Testing']) {
        const events = await list(...of, '--environment', environment)
        assert.deepEqual(
          events.map(({ action, author, request_id }) => [action, author, request_id]),
          [['audit_log.pruned', operator, null]],
        )
        const { before } = events[0]?.details as { before: string }
        assert.equal(Date.parse(before), Date.parse(events[0]?.occurred_at ?? '') - 1000)
      }
    }
  })

  const wrong: readonly [line: string, ...rest: string[]][] = [
    ['audit list --since', 'yesterday'],
    ['audit list --since', ''],
    ['audit list --until', '0h'],
    ['audit list --since', '2026-13-01'],
    ['audit list --since', '2026-11-21Tnoon'],
    ['audit list --since', '1763756153123'],
    ['audit list --action', 'user_group'],
    ['audit list --environment', 'testing'],
    ['audit list --limit', '0'],
    ['audit list --limit', '1.5'],
    ['audit list --user-group', ''],
    ['audit list --author', '\u001b[31m'],
    ['audit list --request-id', ' '],
    ['audit list --workspace', 'no such workspace'],
    ['audit list --nonsense'],
    ['audit list', 'more'],
    ['audit prune'],
    ['audit prune --older-than', '90'],
    ['audit prune --older-than', '0d'],
    ['audit prune --older-than', '2026-11-21'],
    ['audit prune --older-than 90d', 'more'],
  ]
  for (const [line, ...rest] of wrong) {
    it(`${[line, ...rest.map((text) => JSON.stringify(text))].join(' ')} exits with 2`, async () => {
      const { code, stdout, stderr } = await ugs(line, ...rest)
      assert.deepEqual([code, stdout], [2, ''], stderr)
      assert.notEqual(stderr, '')
      assert.doesNotMatch(stderr, /\bat .*:\d+:\d+|internal/)
    })
  }
})
