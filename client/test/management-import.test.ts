import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TransportError } from '../src/errors.ts'
import { UserGroupManagement } from '../src/user-group-management.ts'
import type { UserGroupFields } from '../src/user-group.ts'
import { allOf, sharedManaged } from './support/managed.ts'
import { answer, serve } from './support/scripted-server.ts'

const groups = (prefix: string, count: number): UserGroupFields[] =>
  Array.from({ length: count }, (_, i) => ({ userGroupId: `${prefix}-${i}`, name: `Example customer ${i}` }))

describe('an import, with the service itself', () => {
  const managed = sharedManaged()

  it('takes more rows than fit into a call, and tells of each in their order', async () => {
    const { management } = await managed()
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

  it('refuses a row without stopping, by its code and fields', async () => {
    const { management } = await managed()
    const rows = [
      { userGroupId: 'whole', name: 'Whole', mapping: { 40: '213' }, properties: { plan: 'gold\n' } },
      { userGroupId: 'nameless' },
      { userGroupId: 'long', name: 'x'.repeat(256) },
      { userGroupId: 'last', name: 'Ünï – 漢字' },
    ]
    const results = await allOf(management.importUserGroups(rows))
    assert.deepEqual(
      results.map(({ outcome, error }) => [outcome, error?.code, error?.fields.map(({ path }) => path)]),
      [
        ['created', undefined, undefined],
        ['refused', 'name_required', ['/name']],
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
    const { management } = await managed()
    const results = await allOf(management.importUserGroups(groups('dry', 3), { dryRun: true }))
    assert.ok(results.every(({ outcome }) => outcome === 'created'))
    assert.deepEqual(await allOf(management.searchUserGroups({ userGroupIdPrefix: 'dry-' })), [])
  })

  it('sends nothing more once its results are left', async () => {
    const { management } = await managed()
    async function* endless() {
      for (let i = 0; ; i++) yield Promise.resolve({ userGroupId: `endless-${i}`, name: 'Endless' })
    }
    for await (const { row } of management.importUserGroups(endless())) if (row === 600) break
    assert.equal((await allOf(management.searchUserGroups({ userGroupIdPrefix: 'endless-' }))).length, 1000)
  })

  it('refuses what JSON would alter, before the call', async () => {
    const { management } = await managed()
    const rows = [{ userGroupId: 'nan', name: 'A', properties: { seats: NaN } }]
    await assert.rejects(allOf(management.importUserGroups(rows)), TypeError)
  })
})

describe('an answer to an import that is not whole', () => {
  const result = { line: 1, user_group_id: 'a', outcome: 'created' }
  const summary = { summary: { rows: 1, created: 1, updated: 0, unchanged: 0, refused: 0, dry_run: false } }
  const cases = {
    'without its last line': [result],
    'of another row more': [result, result, summary],
    'with a result that is none': [{ ...result, outcome: 'perhaps' }, summary],
  }
  for (const [name, lines] of Object.entries(cases)) {
    it(`is a bad answer ${name}`, async (t) => {
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
      const { origin } = await serve(t, answer(200, body, { 'content-type': 'application/x-ndjson' }))
      const management = new UserGroupManagement({ origin, apiToken: 'uga_customer_x' })
      await assert.rejects(
        allOf(management.importUserGroups([{ userGroupId: 'a', name: 'A' }])),
        (error) => error instanceof TransportError && error.code === 'bad_answer',
      )
    })
  }
})
