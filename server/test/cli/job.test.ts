import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, startManaged } from '../support/admin-api.ts'
import { runUgs } from '../support/service.ts'

const { service, admin, create } = await startManaged({ after })
for (const id of ['acme 1', 'acme 2', 'other']) await create(id)

const settings = {
  UGS_DATA_DIR: service.dataFolder,
  ...(service.databaseUrl !== undefined && { DATABASE_URL: service.databaseUrl }),
}
const ugs = (...args: string[]) => runUgs([...args, '--environment', 'Customer'], settings)
const suspended = async () =>
  assertSucceeded<{ user_groups: { provided_id: string }[] }>(
    await admin.searchUserGroups({ query: { suspended: true } }),
    'searchUserGroups',
  ).user_groups.map(({ provided_id }) => provided_id)

test('ugs job run reports how many user groups match, and changes them only with --yes', async () => {
  const asked = await ugs('job', 'run', 'suspend', '--text', 'ACME')
  assert.equal(asked.code, 2)
  assert.match(asked.stderr, /this would suspend 2 user groups that are selected; add --yes/)
  assert.deepEqual(await suspended(), [])
  const { code, stdout, stderr } = await ugs('job', 'run', 'suspend', '--text', 'ACME', '--yes', '--json')
  assert.equal(code, 0, stderr)
  assert.deepEqual((JSON.parse(stdout) as { done: number; state: string }).done, 2)
  assert.match(stderr, /suspend: 2 of 2 user groups/)
  assert.deepEqual(await suspended(), ['acme 1', 'acme 2'])
})

test('ugs job run refuses a command without a selection', async () => {
  const { code, stderr } = await ugs('job', 'run', 'delete', '--yes')
  assert.equal(code, 2)
  assert.match(stderr, /must have either team_ids, all or search criteria/)
})

test('ugs job run fails if a user group could not be changed, and names the command that lists it', async () => {
  const { code, stderr } = await ugs('job', 'run', 'resume', '--team-id', '900001', '--yes')
  assert.equal(code, 1)
  assert.match(stderr, /some user groups failed; list them with `ugs job results \d+ --outcome failed`/)
})

test('ugs job run waits for the earlier jobs of the workspace', async () => {
  const earlier = Array.from({ length: 3 }, (_, i) =>
    admin.createJob({ body: { action: i % 2 ? 'resume' : 'suspend', all: true } }),
  )
  await Promise.all(earlier)
  const { code, stdout, stderr } = await ugs('job', 'run', 'resume', '--all', '--yes', '--json')
  assert.equal(code, 0, stderr)
  const { jobs } = assertSucceeded<{ jobs: { id: number; finished_at: string; started_at: string }[] }>(
    await admin.listJobs({ query: { limit: 4 } }),
    'listJobs',
  )
  assert.equal(jobs[0]?.id, (JSON.parse(stdout) as { id: number }).id)
  for (const [i, { started_at }] of jobs.slice(0, 3).entries())
    assert.ok(started_at >= (jobs[i + 1]?.finished_at ?? ''), JSON.stringify(jobs))
  assert.deepEqual(await suspended(), [])
})

test('ugs export writes what a search finds', async () => {
  const { code, stdout, stderr } = await ugs('export', '-', '--format', 'ndjson', '--text', 'acme')
  assert.equal(code, 0, stderr)
  const rows = stdout.trim().split('\n')
  assert.deepEqual(
    rows.map((row) => (JSON.parse(row) as { user_group_id: string }).user_group_id),
    ['acme 1', 'acme 2'],
  )
})

test('ugs user-group search sorts', async () => {
  const { stdout } = await ugs('user-group', 'search', '--sort', 'name', '--descending', '--json')
  const found = JSON.parse(stdout) as { name: string }[]
  assert.deepEqual(
    found.map(({ name }) => name),
    ['other', 'acme 2', 'acme 1'],
  )
})
