import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertRefused,
  assertSucceeded,
  manage,
  of,
  startManaged,
  type EventView,
} from '../../support/admin-api.ts'
import { endOfJob, type JobView } from '../../support/belongings.ts'
import { runCommand } from '../../support/command.ts'
import type { UserGroupView } from '../../support/user-api.ts'

const customer = await startManaged({ after })
const { service, admin, create, introspect } = customer
const testing = await manage(service, 'Testing')
await runCommand(service, 'workspace', 'create', 'second')
const stranger = await manage(service, 'Customer', 'second')

interface Result {
  readonly number: number
  readonly team_id: number
  readonly provided_id: string | null
  readonly outcome: string
  readonly error: { readonly code: string } | null
}

const start = async (body: object, api = admin) =>
  assertSucceeded<{ job: JobView }>(await api.createJob({ body }), 'createJob').job
const run = async (body: object) => endOfJob(admin, (await start(body)).id)
const resultsOf = async ({ id }: JobView, query = {}) =>
  assertSucceeded<{ results: Result[]; next_cursor: string | null }>(
    await admin.listJobResults({ params: { id }, query }),
    'listJobResults',
  )
const outcomesOf = async (job: JobView) =>
  Object.fromEntries(
    (await resultsOf(job)).results.map(({ provided_id, outcome, error }) => [
      provided_id,
      error?.code ?? outcome,
    ]),
  )
const isActive = async ({ token }: Pick<UserGroupView, 'token'>, asked = introspect) =>
  ((await asked(token)).body as { active: boolean }).active

test('a job suspends all user groups that match, and none of another environment or workspace', async () => {
  const [one, two] = [await create('acme 1'), await create('ACME 2')]
  const other = await create('other')
  const elsewhere = [await testing.create('acme 1'), await stranger.create('acme 1')] as const
  await admin.suspendUserGroup(of(two))
  const job = await run({ action: 'suspend', text: 'acme' })
  const { state, filter, total, processed, done, unchanged, failed } = job
  assert.deepEqual(
    { state, filter, total, processed, done, unchanged, failed },
    {
      ...{ state: 'finished', filter: { text: 'acme' }, total: { count: 2, is_exact: true } },
      ...{ processed: 2, done: 1, unchanged: 1, failed: 0 },
    },
  )
  assert.deepEqual(await outcomesOf(job), { 'acme 1': 'done', 'ACME 2': 'unchanged' })
  for (const group of [one, two]) assert.equal(await isActive(group), false)
  assert.equal(await isActive(other), true)
  assert.equal(await isActive(elsewhere[0], testing.introspect), true)
  assert.equal(await isActive(elsewhere[1], stranger.introspect), true)
  const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { request_id: job.request_id } }),
    'listAuditEvents',
  )
  assert.deepEqual(
    audit_events.map(({ action, user_group }) => [action, user_group?.provided_id]),
    [['user_group.suspended', 'acme 1']],
  )
  const created = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { action: 'job.created' } }),
    'listAuditEvents',
  )
  assert.deepEqual(created.audit_events[0]?.details, { job_id: job.id, action: 'suspend', total: 2 })
  assert.equal((await run({ action: 'resume', suspended: true })).done, 2)
})

test('a job with team ids reports those of others as absent', async () => {
  const own = await create('by id')
  const theirs = [await testing.create('theirs'), await stranger.create('theirs')] as const
  const ids = [own, ...theirs].map(({ team_id }) => team_id)
  const job = await run({ action: 'delete', team_ids: [...ids, 900_001] })
  assert.deepEqual([job.done, job.failed, job.filter], [1, 3, null])
  const { results } = await resultsOf(job)
  assert.deepEqual(
    results.map(({ number, team_id, provided_id, error }) => [number, team_id, provided_id, error?.code]),
    [...ids, 900_001].map((id, i) => [
      i + 1,
      id,
      i === 0 ? 'by id' : null,
      i === 0 ? undefined : 'user_group_not_found',
    ]),
  )
  assertRefused(await admin.getUserGroup(of(own)), 'getUserGroup', 'user_group_not_found')
  const page = await resultsOf(job, { outcome: 'failed', limit: 2 })
  const rest = await resultsOf(job, { outcome: 'failed', limit: 2, cursor: String(page.next_cursor) })
  assert.deepEqual([...page.results, ...rest.results], results.slice(1))
})

test('a job rotates tokens with a grace period', async () => {
  const group = await create('to rotate')
  const job = await run({ action: 'rotate', grace_period_seconds: 3600, user_group_id_prefix: 'to rotate' })
  assert.deepEqual(await outcomesOf(job), { 'to rotate': 'done' })
  const { token } = await create('to rotate')
  assert.notEqual(token, group.token)
  assert.deepEqual([await isActive(group), await isActive({ token })], [true, true])
})

test('a job promotes user groups of Testing, and needs an API token of Customer', async () => {
  await testing.create('promoted 1', { properties: { plan: 'gold' } })
  await testing.create('promoted 2')
  await create('promoted 2')
  const body = { action: 'promote', user_group_id_prefix: 'promoted' }
  assert.deepEqual(await outcomesOf(await run(body)), { 'promoted 1': 'done', 'promoted 2': 'unchanged' })
  assertRefused(await testing.admin.createJob({ body }), 'createJob', 'forbidden')
})

test('jobs are listed newest first, and only those of the environment', async () => {
  const { jobs } = assertSucceeded<{ jobs: JobView[] }>(await admin.listJobs(), 'listJobs')
  const ids = jobs.map(({ id }) => id)
  assert.equal(ids.length, 5)
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  )
  for (const { admin: other } of [testing, stranger]) {
    assert.deepEqual(assertSucceeded(await other.listJobs(), 'listJobs'), {
      success: 1,
      jobs: [],
      next_cursor: null,
    })
    for (const id of ['getJob', 'cancelJob', 'listJobResults'] as const)
      assertRefused(await other[id]({ params: { id: ids[0] as number } }), id, 'not_found')
  }
})
