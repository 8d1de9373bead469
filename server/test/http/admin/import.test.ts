import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  adminApi,
  assertSucceeded,
  assertRefused,
  manage,
  startManaged,
  type AdminInput,
  type AdminUserGroup,
} from '../../support/admin-api.ts'
import { writingNothing } from '../../support/kept.ts'
import { badRows, importedIn, outcomesOf } from '../../support/bulk.ts'
import { createApiToken, runCommand } from '../../support/command.ts'
import { sendRequest } from '../../support/http.ts'
import { assertActive } from '../../support/introspection.ts'
import { userGroupIn } from '../../support/user-api.ts'

const managed = await startManaged({ after })
const { service, admin, adminToken, create, user, introspect } = managed
const csv = { 'content-type': 'text/csv' }

const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

async function importing(body: string | Buffer, input: Omit<AdminInput, 'body'> = {}) {
  const response = await admin.importUserGroups({ ...input, body })
  return importedIn(assertSucceeded<unknown[]>(response, 'importUserGroups'))
}

const dry = { query: { dry_run: true } }

async function find(id: string): Promise<AdminUserGroup | undefined> {
  const response = await admin.searchUserGroups({ query: { user_group_id_prefix: id } })
  const { user_groups } = assertSucceeded<{ user_groups: AdminUserGroup[] }>(response, 'searchUserGroups')
  return user_groups.find(({ provided_id }) => provided_id === id)
}

const versionsOf = async ({ team_id }: AdminUserGroup) =>
  assertSucceeded<{ versions: { name: string; updated_by: string; revision: number }[] }>(
    await admin.listUserGroupVersions({ params: { team_id } }),
    'listUserGroupVersions',
  ).versions

describe('an import', () => {
  test('returns the outcome of each row', async () => {
    await create('o-updated', { mapping: { a: 'b' }, properties: { p: 1 } })
    await create('o-unchanged', { mapping: { a: 'b' }, properties: { p: 1 } })
    const body = lines(
      { user_group_id: 'o-created', name: 'New 😀', mapping: { '40': '213' }, properties: { deep: [{}] } },
      { user_group_id: 'o-updated', mapping: null, properties: { p: 2 } },
      { user_group_id: 'o-unchanged', name: 'o-unchanged', properties: { p: 1.0 } },
      { user_group_id: 'o-refused' },
    )
    const { results, summary } = await importing(body)
    assert.deepEqual(results.slice(0, 3), [
      { line: 1, user_group_id: 'o-created', outcome: 'created' },
      { line: 2, user_group_id: 'o-updated', outcome: 'updated' },
      { line: 3, user_group_id: 'o-unchanged', outcome: 'unchanged' },
    ])
    const field = { path: '/name', message: 'is required to create a user group' }
    assert.deepEqual(results[3], {
      line: 4,
      user_group_id: 'o-refused',
      outcome: 'refused',
      error: {
        code: 'name_required',
        message: 'name: is required to create a user group, and none has this id yet',
        fields: [field],
      },
    })
    assert.deepEqual(summary, { rows: 4, created: 1, updated: 1, unchanged: 1, refused: 1, dry_run: false })

    const [created, updated, unchanged] = await Promise.all(
      ['o-created', 'o-updated', 'o-unchanged'].map(find),
    )
    assert.deepEqual(
      [created?.name, created?.mapping, created?.properties, created?.revision],
      ['New 😀', { '40': '213' }, { deep: [{}] }, 1],
    )
    assert.deepEqual(
      [updated?.name, updated?.mapping, updated?.properties, updated?.revision],
      ['o-updated', null, { p: 2 }, 2],
    )
    assert.equal(unchanged?.revision, 1)
    assert.equal(await find('o-refused'), undefined)
  })

  test('records the API token as author and keeps the previous version', async () => {
    await create('author')
    const before = await find('author')
    await importing(
      lines({ user_group_id: 'author', name: 'Other' }, { user_group_id: 'author-new', name: 'A' }),
    )
    const own = assertSucceeded<{ api_tokens: { id: number; scopes: string[] }[] }>(
      await admin.listApiTokens(),
      'listApiTokens',
    ).api_tokens.find(({ scopes }) => scopes.join() === 'admin')
    const [changed, created] = [await find('author'), await find('author-new')]
    assert.equal(changed?.updated_by, `api_token:${own?.id}`)
    assert.equal(created?.updated_by, `api_token:${own?.id}`)
    assert.notEqual(before?.updated_by, changed.updated_by)
    assert.deepEqual(
      (await versionsOf(changed)).map(({ name, updated_by, revision }) => [name, updated_by, revision]),
      [['author', before?.updated_by, 1]],
    )
    assert.deepEqual(await versionsOf(created), [])
  })

  test('issues a token for each new user group and keeps existing ones', async () => {
    const { token } = await create('t-known')
    await importing(
      lines(
        { user_group_id: 't-known', name: 'B' },
        { user_group_id: 't-1', name: 'A' },
        { user_group_id: 't-2', name: 'A' },
      ),
    )
    const tokenOf = async (id: string) => userGroupIn(await user.get({ user_group_id: id })).token
    assert.equal(await tokenOf('t-known'), token)
    const created = [await tokenOf('t-1'), await tokenOf('t-2')]
    assert.equal(new Set([token, ...created]).size, 3)
    for (const [i, one] of created.entries()) {
      const claims = assertActive(await introspect(one))
      assert.equal(claims.sub, `t-${i + 1}`)
    }
  })

  test('changes nothing in another environment or workspace with the same ids', async () => {
    await runCommand(service, 'workspace', 'create', 'elsewhere')
    const others = [await manage(service, 'Testing'), await manage(service, 'Customer', 'elsewhere')]
    const state = (api: typeof admin) => api.exportUserGroups().then(({ text }) => text)
    for (const other of others) await other.create('same id', { properties: { theirs: true } })
    const before = await Promise.all(others.map((other) => state(other.admin)))
    const { results } = await importing(lines({ user_group_id: 'same id', name: 'Ours' }))
    assert.deepEqual(outcomesOf(results), [[1, 'created']])
    assert.deepEqual(await Promise.all(others.map((other) => state(other.admin))), before)
    assert.doesNotMatch(await state(admin), /theirs/)
  })

  test('with all kinds of rows changes nothing as a dry run, and then has the same results', async () => {
    await create('d-updated')
    await create('d-unchanged')
    const body = lines(
      { user_group_id: 'd-new', name: 'A', properties: { a: 1 } },
      { user_group_id: 'd-updated', name: 'B' },
      { user_group_id: 'd-unchanged', name: 'd-unchanged' },
      { user_group_id: 'd-refused' },
      { user_group_id: 'd-new', name: 'C' },
      { user_group_id: 1 },
    )
    const preview = await writingNothing(service, () => importing(body, dry))
    assert.deepEqual(preview.summary, {
      rows: 6,
      created: 1,
      updated: 1,
      unchanged: 1,
      refused: 3,
      dry_run: true,
    })
    const done = await importing(body, { query: { dry_run: false } })
    assert.deepEqual(done.results, preview.results)
    assert.deepEqual(done.summary, { ...preview.summary, dry_run: false })
    assert.equal((await find('d-new'))?.name, 'A')
  })

  test('writes nothing when it is repeated', async () => {
    const rows = Array.from({ length: 1300 }, (_, i) => ({
      ...{ user_group_id: `again ${i}`, name: `Name ${i}`, mapping: { a: String(i % 7) } },
      properties: i % 2 === 0 ? null : { i },
    }))
    const first = await importing(lines(...rows))
    assert.equal(first.summary.created, rows.length)
    const second = await writingNothing(service, () => importing(lines(...rows)))
    assert.equal(second.summary.unchanged, rows.length)
    assert.deepEqual(
      first.results.map(({ line, user_group_id }) => [line, user_group_id]),
      rows.map(({ user_group_id }, i) => [i + 1, user_group_id]),
    )
  })

  test('refuses an id of an earlier row and keeps the first', async () => {
    const far = Array.from({ length: 1200 }, (_, i) => ({ user_group_id: `far ${i}`, name: 'A' }))
    const { results, summary } = await importing(
      lines(
        { user_group_id: 'twice', name: 'First' },
        { user_group_id: 'twice', name: 'Second' },
        { user_group_id: 'Twice', name: 'Another' },
        ...far,
        { user_group_id: 'twice', name: 'Third' },
      ),
    )
    assert.deepEqual([summary.created, summary.refused], [1202, 2])
    const message = 'appears in an earlier row'
    for (const result of [results[1], results.at(-1)]) {
      const { code, fields } = result?.error ?? {}
      assert.deepEqual([code, fields], ['validation_failed', [{ path: '/user_group_id', message }]])
    }
    assert.equal((await find('twice'))?.name, 'First')
  })

  test('accepts an id again if its earlier row was refused', async () => {
    const body = '{"user_group_id":"corrected","name":1}\n{"user_group_id":"corrected","name":"A"}\n'
    assert.deepEqual(outcomesOf((await importing(body)).results), [
      [1, 'validation_failed'],
      [2, 'created'],
    ])
  })

  test('refuses exactly the invalid rows of a file with all kinds of them', async () => {
    const good = (i: number) => Buffer.from(`{"user_group_id":"good ${i}","name":"G"}\n`)
    const body = Buffer.concat([
      ...badRows.flatMap(([, row], i) => [good(i), Buffer.from(row), Buffer.from('\n')]),
      good(badRows.length),
    ])
    const preview = await importing(body, dry)
    const { results, summary } = await importing(body)
    assert.deepEqual(preview.results, results)
    assert.deepEqual([summary.created, summary.refused], [badRows.length + 1, badRows.length])
    assert.deepEqual(outcomesOf(results), [
      ...badRows.flatMap(([, , code], i) => [
        [i * 2 + 1, 'created'],
        [i * 2 + 2, code],
      ]),
      [badRows.length * 2 + 1, 'created'],
    ])
    assert.equal(await find('bad'), undefined)
  })

  test('lists ten thousand refused rows, counts the others and imports what follows', async () => {
    const body = 'x\n'.repeat(12_000) + lines({ user_group_id: 'after-x', name: 'X' })
    const response = await admin.importUserGroups({ body })
    const results = assertSucceeded<Record<string, unknown>[]>(response, 'importUserGroups')
    assert.equal(results.length, 10_002)
    assert.deepEqual(results.slice(-2), [
      { line: 12_001, user_group_id: 'after-x', outcome: 'created' },
      { summary: { rows: 12_001, created: 1, updated: 0, unchanged: 0, refused: 12_000, dry_run: false } },
    ])
  })

  test('accepts the same data as CSV and finds nothing to change', async () => {
    const rows = [
      {
        user_group_id: 'f-1',
        name: 'A, "quoted"',
        mapping: { a: 'b,c' },
        properties: { text: 'line\nfeed' },
      },
      { user_group_id: 'f-2', name: "O'Brien 😀", mapping: null, properties: null },
    ]
    await importing(lines(...rows))
    const quoted = (value: unknown) =>
      `"${(typeof value === 'string' ? value : JSON.stringify(value, null, 2)).replaceAll('"', '""')}"`
    const text = rows.map((row) => `${Object.values(row).map(quoted).join()}\r\n`).join('')
    const { results } = await importing(`\ufeffuser_group_id,name,mapping,properties\r\n${text}`, {
      headers: csv,
    })
    assert.deepEqual(outcomesOf(results), [
      [2, 'unchanged'],
      [7, 'unchanged'],
    ])
    const changed = await importing('name,user_group_id,properties\nB,f-1,\n,f-2,{}\n', { headers: csv })
    assert.deepEqual(outcomesOf(changed.results), [
      [2, 'updated'],
      [3, 'updated'],
    ])
    assert.deepEqual((await find('f-1'))?.properties, rows[0]?.properties)
    assert.deepEqual((await find('f-2'))?.properties, {})
  })
})

test('an import of CSV stops at a quote that is not closed, keeps the rows before, and reads the whole body', async () => {
  const rows = (quote: string) =>
    `user_group_id;name;properties\nquote-1;A;{}\nquote-2;${quote}B;\nquote-1;Renamed;null\n${'quote-3;C;\n'.repeat(300_000)}`
  for (const query of [{ dry_run: true }, { delimiter: ';' }, {}]) {
    const { results, summary } = await importing(rows('"'), { headers: csv, query })
    assert.deepEqual([summary.rows, summary.refused], [2, 1])
    assert.deepEqual([results[1]?.line, results[1]?.user_group_id], [3, null])
    assert.match(
      results[1]?.error?.message ?? '',
      /quote that opens on line 3 is not closed\. No row from line 3 on is imported/,
    )
  }
  const { body } = await admin.searchUserGroups({ query: { user_group_id_prefix: 'quote-' } })
  assert.deepEqual(
    (body as { user_groups: { name: string; properties: unknown }[] }).user_groups.map(
      ({ name, properties }) => [name, properties],
    ),
    [['A', {}]],
  )
})

describe('an import is refused as a whole and changes nothing', () => {
  const row = lines({ user_group_id: 'whole', name: 'A' })
  const refusals: Record<string, [AdminInput, Parameters<typeof assertRefused>[2], ...string[]]> = {
    'without a body': [{}, 'body_required'],
    'with an empty body': [{ body: '' }, 'body_required'],
    'with an empty body in chunks': [
      { headers: { 'transfer-encoding': 'chunked', 'content-type': 'text/csv' } },
      'body_required',
    ],
    'as JSON': [{ body: row, headers: { 'content-type': 'application/json' } }, 'unsupported_media_type'],
    'without a type': [{ body: row, headers: { 'content-type': '' } }, 'unsupported_media_type'],
    'in another charset': [
      { body: row, headers: { 'content-type': 'text/csv; charset=latin1' } },
      'unsupported_media_type',
    ],
    compressed: [{ body: row, headers: { 'content-encoding': 'gzip' } }, 'unsupported_media_type'],
    'with a dry run that is neither true nor false': [
      { body: row, query: 'dry_run=1' },
      'validation_failed',
      '/dry_run',
    ],
    'with two dry runs': [
      { body: row, query: 'dry_run=true&dry_run=false' },
      'validation_failed',
      '/dry_run',
    ],
    'with an unknown parameter': [{ body: row, query: 'dryrun=true' }, 'validation_failed', '/dryrun'],
    'with a delimiter for NDJSON': [{ body: row, query: 'delimiter=;' }, 'validation_failed', '/delimiter'],
    'with an unknown delimiter': [
      { body: 'user_group_id\nwhole\n', headers: csv, query: 'delimiter=:' },
      'validation_failed',
      '/delimiter',
    ],
    'as a JSON array': [{ body: `[${row.trim()}]` }, 'validation_failed'],
    'as pretty-printed JSON': [{ body: row.replace(',', ',\n') }, 'validation_failed'],
    'as CSV without its first line': [{ body: 'whole,A\n', headers: csv }, 'validation_failed'],
    'as CSV with a column that is unknown': [
      { body: 'user_group_id,nam\nwhole,A\n', headers: csv },
      'validation_failed',
    ],
    'as CSV with blank lines alone': [{ body: '\r\n\n', headers: csv }, 'validation_failed'],
  }
  for (const [title, [input, code, ...fields]] of Object.entries(refusals)) {
    test(title, async () => {
      const response = await writingNothing(service, () => admin.importUserGroups(input))
      assertRefused(response, 'importUserGroups', code, fields)
    })
  }

  test('accepts any parameters of the media type with UTF-8', async () => {
    for (const type of [
      'application/x-ndjson; charset=utf-8',
      'Application/X-NDJSON',
      'application/x-ndjson;x=1',
    ]) {
      const { results } = await importing(row, { headers: { 'content-type': type }, ...dry })
      assert.deepEqual(outcomesOf(results), [[1, 'created']])
    }
  })

  test('without permission, before its body arrives', async () => {
    const writer = await createApiToken(service, 'Customer', '--scopes', 'read,write,introspect')
    for (const [token, code] of [
      [undefined, 'unauthenticated'],
      [`${adminToken}x`, 'unauthenticated'],
      [writer, 'forbidden'],
    ] as const) {
      const response = await sendRequest(service.origin, {
        ...{ method: 'POST', path: '/admin/v1/user-groups/import', token },
        headers: {
          'content-type': 'application/x-ndjson',
          'content-length': '1000000',
          expect: '100-continue',
        },
      }).catch((error: unknown) => error)
      assertRefused(response as Awaited<ReturnType<typeof sendRequest>>, 'importUserGroups', code)
      const all = await adminApi(service.origin, token).importUserGroups({ body: row.repeat(100_000) })
      assertRefused(all, 'importUserGroups', code)
    }
    assert.equal(await find('whole'), undefined)
  })
})

test('with UGS_MAPPING=registered, rows with unregistered entries are refused, also in a dry run', async (t) => {
  const strict = await startManaged(t, { UGS_MAPPING: 'registered' })
  const { schema } = assertSucceeded<{ schema: { id: number } }>(
    await strict.admin.createSchema({ body: { provided_id: 'sales', name: 'S' } }),
    'createSchema',
  )
  const source = { schema_id: schema.id, provided_id: 'eu', name: 'EU' }
  assertSucceeded(await strict.admin.createDataSource({ body: source }), 'createDataSource')
  const body = lines(
    { user_group_id: 'a', name: 'A', mapping: { sales: 'eu' } },
    { user_group_id: 'b', name: 'A', mapping: { sales: 'us' } },
    { user_group_id: 'c', name: 'A', mapping: { sails: 'eu', sales: 'eu' } },
    { user_group_id: 'd', name: 'A', mapping: {} },
  )
  for (const query of ['dry_run=true', '']) {
    const response = await strict.admin.importUserGroups({ body, query })
    const { results } = importedIn(assertSucceeded<unknown[]>(response, 'importUserGroups'))
    assert.deepEqual(
      results.map(({ outcome, error }) => error?.fields ?? outcome),
      [
        'created',
        [{ path: '/mapping/sales', message: 'is not a registered data source of this schema' }],
        [{ path: '/mapping/sails', message: 'is not a registered schema' }],
        'created',
      ],
    )
  }
  const { text } = await strict.admin.exportUserGroups()
  assert.deepEqual(text.match(/"user_group_id":"\w"/g)?.length, 2)
})
