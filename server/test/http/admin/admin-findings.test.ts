import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, assertRefused, of, startManaged, type AdminApi } from '../../support/admin-api.ts'

const { service, admin, create } = await startManaged({ after })

interface Finding {
  readonly kind: string
  readonly schema: string
  readonly data_source: string
  readonly registered: { readonly name: string } | null
  readonly user_groups: readonly { readonly provided_id: string }[]
}
interface Page {
  readonly findings: readonly Finding[]
  readonly next_cursor: string | null
}

async function pages(limit?: number, api: AdminApi = admin): Promise<Page[]> {
  const all: Page[] = []
  let cursor: string | null = null
  do {
    const query = { ...(limit !== undefined && { limit }), ...(cursor !== null && { cursor }) }
    const page: Page = assertSucceeded(await api.listIsolationFindings({ query }), 'listIsolationFindings')
    all.push(page)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

/** Returns findings in short form: kind, entry and user groups. */
async function findings(limit?: number): Promise<string[]> {
  return (await pages(limit)).flatMap((page) =>
    page.findings.map(
      ({ kind, schema, data_source, registered, user_groups }) =>
        `${kind} ${schema}=${data_source} ${registered?.name ?? '-'}: ` +
        user_groups.map(({ provided_id }) => provided_id).join(' '),
    ),
  )
}

const register = async (provided_id: string) =>
  assertSucceeded<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id, name: provided_id } }),
    'createSchema',
  ).schema.id
const addSource = async (schema_id: number, provided_id: string) =>
  assertSucceeded<{ data_source: { id: number } }>(
    await admin.createDataSource({ body: { schema_id, provided_id, name: `Name of ${provided_id}` } }),
    'createDataSource',
  ).data_source.id

const one = await create('one', { mapping: { a: 'x', b: 'own' } })

test('a single user group has no findings', async () => {
  assert.deepEqual(await findings(), [])
})

test('without a registry, entries that several user groups share are findings', async () => {
  await create('two', { mapping: { a: 'x' } })
  await create('three', { mapping: { c: 'y' } })
  assert.deepEqual(await findings(), ['shared a=x -: one two'])
})

test('with a registry, unresolved entries and shared data sources are findings, by any of their ids', async () => {
  const sales = await register('sales')
  const eu = await addSource(sales, 'eu')
  await addSource(sales, 'us')
  await create('four', { mapping: { sales: 'eu' } })
  await create('us', { mapping: { [sales]: 'us' } })
  await create('five', { mapping: { [sales]: String(eu) } })
  const expected = [
    'shared sales=eu Name of eu: four five',
    'unresolved a=x -: one two',
    'unresolved b=own -: one',
    'unresolved c=y -: three',
  ]
  assert.deepEqual(await findings(), expected)
  assert.deepEqual(await findings(1), expected)
  assert.deepEqual(await findings(2), expected)

  // A user group that names the data source twice does not share it.
  const six = await create('six', { mapping: { sales: 'us' } })
  await admin.patchUserGroup({ ...of(six), body: { mapping: null } })
  assert.deepEqual(await findings(), expected)
})

test('a schema that a mapping names by both of its ids is a finding, with each data source', async () => {
  const next = (await register('before')) + 1
  const twice = await create('twice', { mapping: { later: 'a', [next]: 'b' } })
  const groups = [
    twice,
    await create('by id', { mapping: { [next]: 'b' } }),
    await create('by provided id', { mapping: { later: 'a' } }),
  ]
  assert.equal(await register('later'), next)
  const found = async () => (await findings(1)).filter((finding) => finding.startsWith('mapped_twice'))
  assert.deepEqual(await found(), [`mapped_twice ${next}=b -: twice`])
  await addSource(next, 'b')
  assert.deepEqual(await found(), [`mapped_twice ${next}=b Name of b: twice`])
  await admin.patchUserGroup({ ...of(twice), body: { mapping: { later: 'a' } } })
  assert.deepEqual(await found(), [])
  for (const group of groups) await admin.deleteUserGroup(of(group))
})

test('a corrected mapping is no longer a finding', async () => {
  await admin.patchUserGroup({ ...of(one), body: { mapping: { sales: 'us' } } })
  assert.deepEqual(await findings(), [
    'shared sales=eu Name of eu: four five',
    'shared sales=us Name of us: one us',
    'unresolved a=x -: two',
    'unresolved c=y -: three',
  ])
})

test('a deleted user group has no findings until it is restored', async () => {
  await admin.deleteUserGroup(of(one))
  assert.ok(!(await findings()).some((finding) => finding.includes('one')))
  await admin.restoreDeletedUserGroup(of(one))
  assert.ok((await findings()).includes('shared sales=us Name of us: one us'))
})

test('a provided id is not mistaken for the id of another data source', async () => {
  const first = await register('first')
  const named = await register(String(first + 2))
  const byId = await register('by id')
  assert.equal(byId, first + 2)
  for (const schema of [named, byId]) await addSource(schema, 'same')
  const groups = [
    await create('of the name', { mapping: { [first + 2]: 'same' } }),
    await create('of the id', { mapping: { 'by id': 'same' } }),
  ]
  assert.ok(!(await findings()).some((finding) => finding.includes('same')))
  for (const group of groups) await admin.deleteUserGroup(of(group))
})

test('a finding lists ten user groups at most', async () => {
  for (let i = 0; i < 12; i++) await create(`many ${i}`, { mapping: { many: 'same' } })
  const found = (await pages()).flatMap((page) => page.findings).find(({ schema }) => schema === 'many')
  assert.deepEqual(
    found?.user_groups.map(({ provided_id }) => provided_id),
    Array.from({ length: 10 }, (_, i) => `many ${i}`),
  )
})

test('a page has at most its limit', async () => {
  for (const { findings } of await pages(1)) assert.ok(findings.length <= 1, JSON.stringify(findings))
})

test('a cursor works for mapping entries of any length', async () => {
  const long = ['\u0001', '"', '😀'].map((character) => character.repeat(255))
  const mapping = Object.fromEntries(long.map((text) => [text, text]))
  const { team_id } = await create('long', { mapping })
  const found = (await pages(1))
    .flatMap((page) => page.findings)
    .filter(({ schema }) => long.includes(schema))
  assert.deepEqual(found.map(({ schema }) => schema).sort(), long.toSorted())
  await admin.deleteUserGroup(of({ team_id }))
})

test('refuses an invalid limit', async () => {
  for (const limit of ['0', '201', 'x', '']) {
    const response = await admin.listIsolationFindings({ query: { limit } })
    assertRefused(response, 'listIsolationFindings', 'validation_failed', ['/limit'])
  }
  assert.doesNotMatch(service.stderr(), /"level":[56]0/)
})
