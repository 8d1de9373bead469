import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { assertSucceeded, assertRefused, manage, rowsIn, startManaged } from '../../support/admin-api.ts'
import { writingNothing } from '../../support/kept.ts'
import { importedIn } from '../../support/bulk.ts'
import { assertCommonHeaders } from '../../support/user-api.ts'

const { service, admin, user } = await startManaged({ after })

/** User groups with data that is easily altered. */
const bodies = [
  '{"user_group_id":"b","name":"plain"}',
  '{"user_group_id":"a","name":"A, \\"quoted\\"","mapping":{"a,b":"c\\"d"},"properties":{}}',
  '{ "user_group_id": "é",\r\n "name": " kept ",\n "mapping": { "40" : "213" },\n "properties": {\n "n": [1.50, 1E2, -0] } }',
  '{"user_group_id":"\\ufeffmark","name":"=1+2","properties":{"\\u2028":"\\r\\n","__proto__":{"a":[]}}}',
  '{"user_group_id":"😀","name":"null","mapping":{},"properties":null}',
  '{"user_group_id":"\\uffee","name":"before 😀 in UTF-8, after it in UTF-16"}',
  `{"user_group_id":"large","name":"L","properties":{"t":"${'\\"'.repeat(32_000)}"}}`,
]
for (const body of bodies) assert.equal((await user.get(body)).status, 200)

interface Exported {
  readonly user_group_id: string
  readonly name: string
  readonly mapping: unknown
  readonly properties: unknown
}

const asCsv = { query: { format: 'csv' } }

describe('an export', () => {
  test('contains all user groups by id, with exactly four fields', async () => {
    const rows = assertSucceeded<Exported[]>(await admin.exportUserGroups(), 'exportUserGroups')
    assert.deepEqual(
      rows.map(({ user_group_id }) => user_group_id),
      ['a', 'b', 'large', 'é', '\ufeffmark', '\uffee', '😀'].sort((x, y) =>
        Buffer.compare(Buffer.from(x), Buffer.from(y)),
      ),
    )
    const sent = bodies.map((body) => JSON.parse(body) as Partial<Exported> & { user_group_id: string })
    for (const row of rows) {
      const {
        mapping,
        properties = null,
        ...rest
      } = sent.find(({ user_group_id }) => user_group_id === row.user_group_id) ?? {}
      const isEmpty = mapping === undefined || mapping === null || Object.keys(mapping).length === 0
      assert.deepEqual(row, { ...rest, mapping: isEmpty ? null : mapping, properties })
      assert.deepEqual(Object.keys(row), ['user_group_id', 'name', 'mapping', 'properties'])
    }
  })

  test('contains the user groups with the given team ids, and refuses other texts', async () => {
    const team_ids = '3,999999,1'
    const rows = assertSucceeded<Exported[]>(
      await admin.exportUserGroups({ query: { team_ids } }),
      'exportUserGroups',
    )
    assert.deepEqual(
      rows.map(({ user_group_id }) => user_group_id),
      ['é', 'b'],
    )
    for (const refused of ['', '1,', '0', 'x', Array(201).fill(1).join()])
      assertRefused(
        await admin.exportUserGroups({ query: { team_ids: refused } }),
        'exportUserGroups',
        'validation_failed',
        ['/team_ids'],
      )
  })

  test('keeps numbers as sent, and one line per user group', async () => {
    const { text } = await admin.exportUserGroups()
    assert.ok(text.includes('"properties":{"n":[1.50,1E2,-0]}}\n'), text.slice(0, 500))
    assert.equal(text.split('\n').length, bodies.length + 1)
  })

  test('is CSV on request', async () => {
    const response = await admin.exportUserGroups(asCsv)
    assert.deepEqual([response.status, response.headers['content-type']], [200, 'text/csv'])
    assertCommonHeaders(response)
    assert.ok(
      response.text.startsWith(
        'user_group_id,name,mapping,properties\r\na,"A, ""quoted""","{""a,b"":""c\\""d""}",{}\r\nb,plain,null,null\r\n',
      ),
      response.text.slice(0, 200),
    )
    assert.ok(response.text.endsWith('\r\n'))
  })

  for (const [format, contentType] of [
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv'],
  ] as const) {
    test(`as ${format} changes nothing when imported again, and creates the same user groups elsewhere`, async () => {
      const exported = await admin.exportUserGroups({ query: { format } })
      const headers = { 'content-type': contentType }
      const again = await writingNothing(service, () =>
        admin.importUserGroups({ body: exported.text, headers }),
      )
      const { summary } = importedIn(assertSucceeded<unknown[]>(again, 'importUserGroups'))
      assert.deepEqual([summary.rows, summary.unchanged], [bodies.length, bodies.length])

      const other = await startManaged({ after })
      const created = await other.admin.importUserGroups({ body: exported.text, headers })
      assert.equal(
        importedIn(assertSucceeded<unknown[]>(created, 'importUserGroups')).summary.created,
        bodies.length,
      )
      const there = await other.admin.exportUserGroups({ query: { format } })
      assert.equal(there.text, exported.text)
    })
  }

  test('contains each of many user groups once', async () => {
    const other = await startManaged({ after })
    const ids = Array.from({ length: 1001 }, (_, i) => `id ${i}`)
    const body = ids.map((id) => `{"user_group_id":"${id}","name":"A"}\n`).join('')
    assertSucceeded(await other.admin.importUserGroups({ body }), 'importUserGroups')
    const rows = rowsIn<Exported>(await other.admin.exportUserGroups())
    assert.deepEqual(
      rows.map(({ user_group_id }) => user_group_id),
      ids.sort(),
    )
  })

  test('of an empty environment is empty, or only the line with the columns', async () => {
    const { admin: empty } = await manage(service, 'Testing')
    assert.deepEqual(assertSucceeded(await empty.exportUserGroups(), 'exportUserGroups'), [])
    const response = await empty.exportUserGroups(asCsv)
    assert.deepEqual([response.status, response.text], [200, 'user_group_id,name,mapping,properties\r\n'])
  })

  test('contains no deleted user groups and no tokens', async () => {
    const other = await startManaged({ after })
    const { team_id, token } = await other.create('deleted')
    await other.create('there')
    await other.admin.deleteUserGroup({ params: { team_id } })
    const { text } = await other.admin.exportUserGroups()
    assert.equal(text, '{"user_group_id":"there","name":"there","mapping":null,"properties":null}\n')
    assert.ok(!text.includes(token))
  })

  test('supports exactly two formats', async () => {
    for (const query of ['format=json', 'format=', 'format=CSV', 'format=csv&format=csv'])
      assertRefused(await admin.exportUserGroups({ query }), 'exportUserGroups', 'validation_failed', [
        '/format',
      ])
    assert.deepEqual((await admin.exportUserGroups({ query: 'format=ndjson' })).status, 200)
  })
})
