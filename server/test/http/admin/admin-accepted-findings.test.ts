import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertRefused,
  assertSucceeded,
  exactOverview,
  manage,
  of,
  startManaged,
} from '../../support/admin-api.ts'

const { service, admin, create } = await startManaged({ after })
const testing = await manage(service, 'Testing')

interface Finding {
  readonly kind: string
  readonly schema: string
  readonly data_source: string
  readonly affected: { readonly count: number; readonly is_exact: boolean }
  readonly changed_at: string
  readonly status: string
  readonly acceptance: { readonly reason: string; readonly accepted_by: string } | null
  readonly version: string
}

async function list(query: Record<string, string> = {}): Promise<Finding[]> {
  const all: Finding[] = []
  let cursor: string | null = null
  do {
    const response = await admin.listIsolationFindings({
      query: { ...query, ...(cursor !== null && { cursor }) },
    })
    const page = assertSucceeded<{ findings: Finding[]; next_cursor: string | null }>(
      response,
      'listIsolationFindings',
    )
    all.push(...page.findings)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

const named = async (dataSource: string, query = {}) =>
  (await list(query)).filter(({ data_source }) => data_source === dataSource)

async function only(dataSource: string): Promise<Finding> {
  const [finding, ...others] = await named(dataSource)
  assert.ok(finding !== undefined && others.length === 0, dataSource)
  return finding
}

const nameOf = ({ kind, schema, data_source }: Finding) => ({ kind, schema, data_source })
const accepting = (finding: Finding, reason = 'A demo') =>
  admin.acceptIsolationFinding({ body: { ...nameOf(finding), version: finding.version, reason } })
const accept = async (finding: Finding, reason?: string) =>
  assertSucceeded<{ finding: Finding }>(await accepting(finding, reason), 'acceptIsolationFinding').finding

const { schema } = assertSucceeded<{ schema: { id: number } }>(
  await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }),
  'createSchema',
)
for (const provided_id of ['demo', 'large'])
  await admin.createDataSource({ body: { schema_id: schema.id, provided_id, name: provided_id } })
const groups = [
  await create('one', { mapping: { sales: 'demo' } }),
  await create('two', { mapping: { sales: 'demo' } }),
]

test('an accepted finding has its reason and author, and does not count in the overview', async () => {
  const counts = async () => {
    const overview = await exactOverview<Record<string, object>>(admin)
    return [overview.isolation_findings, overview.unresolved_mappings]
  }
  await create('alone', { mapping: { sales: 'nowhere' } })
  const open = await only('demo')
  assert.deepEqual([open.status, open.acceptance], ['open', null])
  assert.deepEqual(open.affected, { count: 2, is_exact: true })
  assert.deepEqual(await counts(), [
    { count: 1, is_exact: true },
    { count: 1, is_exact: true },
  ])
  const accepted = await accept(open)
  assert.deepEqual(accepted, await only('demo'))
  assert.equal(accepted.status, 'accepted')
  assert.equal(accepted.acceptance?.reason, 'A demo')
  assert.match(accepted.acceptance.accepted_by, /^api_token:\d+$/)
  await accept(await only('nowhere'), 'Not launched')
  assert.deepEqual(await counts(), [
    { count: 0, is_exact: true },
    { count: 0, is_exact: true },
  ])
})

test('an accepted finding is open again when another user group joins or leaves, and not when one is renamed', async () => {
  const status = async () => (await only('demo')).status
  assert.equal(await status(), 'accepted')
  await admin.patchUserGroup({ ...of(groups[0] ?? { team_id: 0 }), body: { name: 'renamed' } })
  assert.equal(await status(), 'accepted')
  // By the other ids of schema and data source.
  const third = await create('three', { mapping: { [schema.id]: 'demo' } })
  assert.equal(await status(), 'open')
  assert.equal((await only('demo')).acceptance?.reason, 'A demo')
  await admin.deleteUserGroup(of(third))
  assert.equal(await status(), 'accepted')
  await admin.patchUserGroup({ ...of(groups[1] ?? { team_id: 0 }), body: { mapping: null } })
  await create('four', { mapping: { sales: 'demo' } })
  assert.equal(await status(), 'open')
})

test('a finding that has changed since it was read, or does not exist, cannot be accepted', async () => {
  const before = await only('demo')
  await create('five', { mapping: { sales: 'demo' } })
  assertRefused(await accepting(before), 'acceptIsolationFinding', 'revision_mismatch')
  assert.equal((await only('demo')).status, 'open')
  for (const other of [
    { kind: 'unresolved' },
    { schema: 'nothing' },
    { data_source: 'large' },
    { schema: String(schema.id) },
  ])
    assertRefused(await accepting({ ...before, ...other }), 'acceptIsolationFinding', 'not_found')
  const body = { ...nameOf(before), version: before.version, reason: ' ' }
  assertRefused(await admin.acceptIsolationFinding({ body }), 'acceptIsolationFinding', 'validation_failed', [
    '/reason',
  ])
})

test('a reopened finding has no acceptance', async () => {
  const accepted = await accept(await only('demo'), 'Again')
  const reopen = () => admin.reopenIsolationFinding({ body: nameOf(accepted) })
  assert.deepEqual(assertSucceeded(await reopen(), 'reopenIsolationFinding'), { success: 1, reopened: true })
  const { status, acceptance } = await only('demo')
  assert.deepEqual([status, acceptance], ['open', null])
  assertRefused(await reopen(), 'reopenIsolationFinding', 'not_found')
})

test('the acceptance of more than 200 user groups holds when more join', async () => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) =>
      JSON.stringify({ user_group_id: `large ${from + i}`, name: 'x', mapping: { sales: 'large' } }),
    ).join('\n')
  await admin.importUserGroups({ body: rows(0, 200) })
  const exact = await accept(await only('large'))
  assert.deepEqual(exact.affected, { count: 200, is_exact: true })
  await admin.importUserGroups({ body: rows(200, 201) })
  const more = await only('large')
  assert.deepEqual([more.status, more.affected], ['open', { count: 200, is_exact: false }])
  await accept(more)
  await admin.importUserGroups({ body: rows(201, 202) })
  assert.equal((await only('large')).status, 'accepted')
})

test('filters by kind, status and time', async () => {
  const shown = async (query: Record<string, string>) =>
    (await list(query)).map(({ kind, data_source, status }) => `${kind} ${data_source} ${status}`)
  const all = ['shared demo open', 'shared large accepted', 'unresolved nowhere accepted']
  assert.deepEqual(await shown({}), all)
  assert.deepEqual(await shown({ kind: 'shared' }), all.slice(0, 2))
  assert.deepEqual(await shown({ status: 'open' }), all.slice(0, 1))
  assert.deepEqual(await shown({ status: 'accepted', kind: 'unresolved' }), all.slice(2))
  const { changed_at } = await only('demo')
  assert.deepEqual(await shown({ until: changed_at }), all.slice(2))
  assert.deepEqual(await shown({ since: changed_at }), all.slice(0, 2))
  for (const [query, field] of [
    [{ since: '2026-02-30T00:00:00Z' }, '/since'],
    [{ status: 'closed' }, '/status'],
    [{ kind: 'x' }, '/kind'],
  ] as const)
    assertRefused(
      await admin.listIsolationFindings({ query }),
      'listIsolationFindings',
      'validation_failed',
      [field],
    )
})

test('an export has all findings that meet the conditions, also as CSV', async () => {
  const exported = async (query: Record<string, string> = {}) =>
    assertSucceeded<Finding[]>(await admin.exportIsolationFindings({ query }), 'exportIsolationFindings')
  assert.deepEqual(await exported(), await list())
  assert.deepEqual(await exported({ status: 'open' }), await list({ status: 'open' }))
  const { text, headers } = await admin.exportIsolationFindings({
    query: { format: 'csv', kind: 'unresolved' },
  })
  assert.equal(headers['content-type'], 'text/csv')
  const [head, line, ...rest] = text.split('\r\n')
  assert.match(head ?? '', /^kind,schema,data_source,/)
  assert.match(line ?? '', /^unresolved,sales,nowhere,,"\[""alone""\]",1,true,20.*Z,accepted,Not launched,20/)
  assert.deepEqual(rest, [''])
  assert.deepEqual(
    assertSucceeded(await testing.admin.exportIsolationFindings(), 'exportIsolationFindings'),
    [],
  )
})
