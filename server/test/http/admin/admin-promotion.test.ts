import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertSucceeded,
  assertRefused,
  manage,
  managedIn,
  of,
  startManaged,
  type ManagedEnvironment,
} from '../../support/admin-api.ts'
import { writingNothing } from '../../support/kept.ts'
import { assertActive, assertInactive } from '../../support/introspection.ts'
import { assertFault, tokenIn } from '../../support/user-api.ts'

const customer = await startManaged({ after })
const testing = await manage(customer.service, 'Testing')
const strict = await startManaged({ after }, { UGS_MAPPING: 'registered' })
const strictTesting = await manage(strict.service, 'Testing')

interface Result {
  readonly provided_id: string
  readonly outcome: string
  readonly differences: { path: string; before?: unknown; after?: unknown }[]
  readonly team_id: number | null
  readonly message: string | null
  readonly suspended: { readonly in_testing: boolean; readonly in_customer: boolean }
  readonly unresolved_entries: number
}

interface Candidate {
  readonly provided_id: string
  readonly suspended_at: string | null
  readonly unresolved_entries: number
}

const active = { suspended: { in_testing: false, in_customer: false }, unresolved_entries: 0 }

const promote = async (
  { admin }: ManagedEnvironment,
  ids: readonly string[],
  isDryRun?: boolean,
): Promise<Result[]> => {
  const body = { user_group_ids: ids, ...(isDryRun !== undefined && { dry_run: isDryRun }) }
  return assertSucceeded<{ results: Result[] }>(await admin.promoteUserGroups({ body }), 'promoteUserGroups')
    .results
}

/** Checks that a dry run changes nothing and returns the same results as the promotion that follows. */
async function promoteAsPreviewed(to: typeof customer, ids: readonly string[]): Promise<Result[]> {
  const preview = await writingNothing(to.service, () => promote(to, ids, true))
  const done = await promote(to, ids)
  // A user group that does not exist yet has no id in the dry run.
  const comparable = (results: Result[]) =>
    results.map((result) => (result.outcome === 'created' ? { ...result, team_id: null } : result))
  assert.deepEqual(comparable(preview), comparable(done))
  return done
}

test('returns each outcome in the order of the ids', async () => {
  const fields = { name: 'Name', mapping: { a: 'b' }, properties: { plan: 'gold', limits: { rows: 5 } } }
  for (const id of ['new', 'other', 'same']) await testing.create(id, fields)
  const other = await customer.create('other', { name: 'Old', properties: { plan: 'gold', limits: {} } })
  const same = await customer.create('same', fields)
  await customer.create('of Customer alone')
  const results = await promoteAsPreviewed(customer, ['same', 'nobody', 'new', 'of Customer alone', 'other'])
  const created = managedIn(
    await customer.admin.getUserGroup(of({ team_id: results[2]?.team_id ?? 0 })),
    'getUserGroup',
  )
  const none = { differences: [], team_id: null, message: null, ...active }
  assert.deepEqual(results, [
    { ...none, provided_id: 'same', outcome: 'unchanged', team_id: same.team_id },
    { ...none, provided_id: 'nobody', outcome: 'not_found' },
    {
      provided_id: 'new',
      outcome: 'created',
      differences: [
        { path: '/name', after: 'Name' },
        { path: '/mapping', after: { a: 'b' } },
        { path: '/properties', after: fields.properties },
      ],
      team_id: created.team_id,
      message: null,
      ...active,
    },
    { ...none, provided_id: 'of Customer alone', outcome: 'not_found' },
    {
      provided_id: 'other',
      outcome: 'updated',
      differences: [
        { path: '/name', before: 'Old', after: 'Name' },
        { path: '/mapping', before: null, after: { a: 'b' } },
        { path: '/properties/limits/rows', after: 5 },
      ],
      team_id: other.team_id,
      message: null,
      ...active,
    },
  ])
  const { provided_id, api_environment_tag, name, mapping, properties, revision, updated_by } = created
  assert.deepEqual(
    { provided_id, api_environment_tag, name, mapping, properties, revision },
    { provided_id: 'new', api_environment_tag: 'Customer', ...fields, revision: 1 },
  )
  assert.match(updated_by ?? '', /^api_token:\d+$/)
  assert.deepEqual(
    (await promoteAsPreviewed(customer, ['new', 'other', 'same'])).map(({ outcome }) => outcome),
    ['unchanged', 'unchanged', 'unchanged'],
  )
})

test('a promoted user group has its own token in Customer, which later promotions keep', async () => {
  const tested = await testing.create('tokens')
  await promote(customer, ['tokens'])
  const token = tokenIn(await customer.user.get({ user_group_id: 'tokens' }))
  assert.match(token, /^ugt_customer_/)
  assert.match(tested.token, /^ugt_testing_/)
  assertActive(await customer.introspect(token))
  assertInactive(await testing.introspect(token))
  assertInactive(await customer.introspect(tested.token))
  assertActive(await testing.introspect(tested.token))

  await testing.user.put({ user_group_id: 'tokens', name: 'Second' })
  assert.equal((await promote(customer, ['tokens']))[0]?.outcome, 'updated')
  assert.equal(tokenIn(await customer.user.get({ user_group_id: 'tokens' })), token)
})

test('properties and mapping are promoted byte for byte', async () => {
  const properties = '{"b":1.0,"a":123e45,"__proto__":{}}'
  await testing.user.get(`{"user_group_id":"bytes","name":"Bytes","properties":${properties}}`)
  const [result] = await promote(customer, ['bytes'])
  const { text } = await customer.admin.getUserGroup(of({ team_id: result?.team_id ?? 0 }))
  assert.ok(text.includes(`"properties":${properties}`), text)
})

test('a promotion can be reverted', async () => {
  await testing.create('undone', { name: 'Of Testing' })
  const { team_id } = await customer.create('undone', { name: 'Of Customer' })
  await promote(customer, ['undone'])
  const response = await customer.admin.restoreUserGroupVersion({ params: { team_id, revision: 1 } })
  assert.equal(managedIn(response, 'restoreUserGroupVersion').name, 'Of Customer')
})

test('a suspension is not promoted, and the results say where user groups are suspended', async () => {
  await testing.admin.suspendUserGroup(of(await testing.create('asleep', { name: 'New' })))
  const awake = await customer.create('asleep', { name: 'Old' })
  await testing.create('stopped', { name: 'New' })
  const stopped = await customer.create('stopped', { name: 'Old' })
  await customer.admin.suspendUserGroup(of(stopped))
  const results = await promoteAsPreviewed(customer, ['asleep', 'stopped'])
  assert.deepEqual(
    results.map(({ suspended }) => suspended),
    [
      { in_testing: true, in_customer: false },
      { in_testing: false, in_customer: true },
    ],
  )
  assertActive(await customer.introspect(awake.token))
  assertInactive(await customer.introspect(stopped.token))
})

test('an API token of Testing cannot promote', async () => {
  await testing.create('kept back')
  for (const dry_run of [true, false]) {
    const body = { user_group_ids: ['kept back'], dry_run }
    const { message } = assertRefused(
      await testing.admin.promoteUserGroups({ body }),
      'promoteUserGroups',
      'forbidden',
    )
    assert.match(message, /Customer/)
  }
  assertFault(await customer.user.put({ user_group_id: 'kept back' }), 'user_group_not_found')
})

test('promotes two hundred user groups in one request', async () => {
  const ids = Array.from({ length: 200 }, (_, i) => `many ${i}`)
  await Promise.all(ids.map((id) => testing.create(id)))
  const results = await promote(customer, ids)
  assert.deepEqual(
    results.map(({ provided_id, outcome }) => [provided_id, outcome]),
    ids.map((id) => [id, 'created']),
  )
})

async function register({ admin }: ManagedEnvironment, providedId: string): Promise<void> {
  const { schema } = assertSucceeded<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id: providedId, name: providedId } }),
    'createSchema',
  )
  const body = { schema_id: schema.id, provided_id: 'eu', name: 'EU' }
  assertSucceeded(await admin.createDataSource({ body }), 'createDataSource')
}

test('with UGS_MAPPING=registered, mappings that are not registered in Customer are refused, and others promoted', async () => {
  for (const environment of [strict, strictTesting]) await register(environment, 'sales')
  await register(strictTesting, 'only in Testing')
  await strictTesting.create('fine', { mapping: { sales: 'eu' } })
  await strictTesting.create('refused', { mapping: { 'only in Testing': 'eu' } })
  await strictTesting.create('refused too', { name: 'New', mapping: { 'only in Testing': 'eu' } })
  await strictTesting.admin.suspendUserGroup(of(await strictTesting.create('without')))
  const old = await strict.create('refused too', { name: 'Old' })
  const results = await promoteAsPreviewed(strict, ['refused', 'fine', 'refused too', 'without'])
  assert.deepEqual(
    results.map(({ provided_id, outcome }) => [provided_id, outcome]),
    [
      ['refused', 'refused'],
      ['fine', 'created'],
      ['refused too', 'refused'],
      ['without', 'created'],
    ],
  )
  assert.deepEqual(
    results.map(({ message }) => message),
    ['is not a registered schema', null, 'is not a registered schema', null].map(
      (message) => message && `mapping/only in Testing: ${message}`,
    ),
  )
  assert.deepEqual(
    results.map(({ unresolved_entries }) => unresolved_entries),
    [1, 0, 1, 0],
  )
  const { user_groups: candidates } = assertSucceeded<{ user_groups: Candidate[] }>(
    await strict.admin.listPromotionCandidates({}),
    'listPromotionCandidates',
  )
  assert.deepEqual(
    candidates.map(({ provided_id, ...rest }) => [
      provided_id,
      rest.suspended_at !== null,
      rest.unresolved_entries,
    ]),
    [
      ['fine', false, 0],
      ['refused', false, 1],
      ['refused too', false, 1],
      ['without', true, 0],
    ],
  )
  assert.deepEqual([results[0]?.team_id, results[2]?.team_id], [null, old.team_id])
  assert.equal(managedIn(await strict.admin.getUserGroup(of(old)), 'getUserGroup').name, 'Old')
  assertFault(await strict.user.put({ user_group_id: 'refused' }), 'user_group_not_found')
})

test('these requests caused no error in the log', () => {
  for (const { service } of [customer, strict]) assert.doesNotMatch(service.stderr(), /"level":[56]0/)
})

test('lists the user groups of Testing as candidates, only to API tokens of Customer', async () => {
  for (const i of [1, 2, 3]) await testing.create(`candidate-${i}`, { name: `A Candidate ${i}` })
  await customer.create('not of Testing', { name: 'A Candidate 4' })
  const found: string[] = []
  let cursor: string | null = null
  do {
    const query = { name: 'candidate', limit: 2, ...(cursor !== null && { cursor }) }
    const page: { user_groups: { provided_id: string }[]; next_cursor: string | null } = assertSucceeded(
      await customer.admin.listPromotionCandidates({ query }),
      'listPromotionCandidates',
    )
    found.push(...page.user_groups.map(({ provided_id }) => provided_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  assert.deepEqual(found, ['candidate-1', 'candidate-2', 'candidate-3'])
  assertRefused(await testing.admin.listPromotionCandidates({}), 'listPromotionCandidates', 'forbidden')
})
