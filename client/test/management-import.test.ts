import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TransportError } from '../src/errors.ts'
import { UserGroupManagement } from '../src/index.ts'
import type { UserGroupFields } from '../src/user-group.ts'
import { allOf, sharedManagement } from './support/management.ts'
import { respond, serve } from './support/scripted-server.ts'

const groups = (prefix: string, count: number): UserGroupFields[] =>
  Array.from({ length: count }, (_, i) => ({ userGroupId: `${prefix}-${i}`, name: `Example customer ${i}` }))

describe('import with a running service', () => {
  const fixture = sharedManagement()

  it('accepts more rows than fit into one request and returns results in order', async () => {
    const { management } = await fixture()
    const rows = groups('many', 1234)
    const results = await allOf(management.importUserGroups(rows))
    assert.deepEqual(
      results,
      rows.map(({ userGroupId }, i) => ({ row: i + 1, userGroupId, outcome: 'created', error: null })),
    )
    const again = await allOf(management.importUserGroups(rows))
    assert.ok(again.every(({ outcome }) => outcome === 'unchanged'))
    assert.equal((await allOf(management.searchUserGroups({ userGroupIdPrefix: 'many-' }))).length, 1234)
  })

  it('reports an invalid row by code and fields, and continues', async () => {
    const { management } = await fixture()
    const rows = [
      { userGroupId: 'whole', name: 'Whole', mapping: { 40: '213' }, properties: { plan: 'gold\n' } },
      { userGroupId: 'nameless' },
      { userGroupId: '', name: 'A' },
      { userGroupId: 'long', name: 'x'.repeat(256) },
      { userGroupId: 'last', name: 'Ünï – 漢字' },
    ]
    const results = await allOf(management.importUserGroups(rows))
    assert.deepEqual(
      results.map(({ outcome, error }) => [outcome, error?.code, error?.fields.map(({ path }) => path)]),
      [
        ['created', undefined, undefined],
        ['refused', 'name_required', ['/name']],
        ['refused', 'validation_failed', ['/user_group_id']],
        ['refused', 'validation_failed', ['/name']],
        ['created', undefined, undefined],
      ],
    )
    const [whole] = (await management.searchUserGroups({ userGroupIdPrefix: 'whole' }).page()).items
    assert.deepEqual([whole?.mapping, whole?.properties], [{ 40: '213' }, { plan: 'gold\n' }])
    const [last] = (await management.searchUserGroups({ userGroupIdPrefix: 'last' }).page()).items
    assert.equal(last?.name, 'Ünï – 漢字')
  })

  it('changes nothing in a dry run', async () => {
    const { management } = await fixture()
    const results = await allOf(management.importUserGroups(groups('dry', 3), { dryRun: true }))
    assert.ok(results.every(({ outcome }) => outcome === 'created'))
    assert.deepEqual(await allOf(management.searchUserGroups({ userGroupIdPrefix: 'dry-' })), [])
  })

  it('sends no more requests once the loop is left', async () => {
    const { management } = await fixture()
    async function* endless() {
      for (let i = 0; ; i++) yield Promise.resolve({ userGroupId: `endless-${i}`, name: 'Endless' })
    }
    for await (const { row } of management.importUserGroups(endless())) if (row === 600) break
    assert.equal((await allOf(management.searchUserGroups({ userGroupIdPrefix: 'endless-' }))).length, 1000)
  })

  it('refuses values that JSON would change, before it sends them', async () => {
    const { management } = await fixture()
    const rows = [{ userGroupId: 'nan', name: 'A', properties: { seats: NaN } }]
    await assert.rejects(allOf(management.importUserGroups(rows)), TypeError)
  })
})

describe('incomplete import response', () => {
  const result = { line: 1, user_group_id: 'a', outcome: 'created' }
  const summary = { summary: { rows: 1, created: 1, updated: 0, unchanged: 0, refused: 0, dry_run: false } }
  const cases = {
    'without its last line': [result],
    'with an extra row': [result, result, summary],
    'with an invalid result': [{ ...result, outcome: 'perhaps' }, summary],
  }
  for (const [name, lines] of Object.entries(cases)) {
    it(`is a bad_response ${name}`, async (t) => {
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
      const { origin } = await serve(t, respond(200, body, { 'content-type': 'application/x-ndjson' }))
      const management = new UserGroupManagement({ origin, apiToken: 'uga_customer_x' })
      await assert.rejects(
        allOf(management.importUserGroups([{ userGroupId: 'a', name: 'A' }])),
        (error) => error instanceof TransportError && error.code === 'bad_response',
      )
    })
  }
})
