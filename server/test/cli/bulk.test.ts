import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { adminApi, type AdminUserGroup } from '../support/admin-api.ts'
import { writingNothing } from '../support/kept.ts'
import { createApiToken } from '../support/command.ts'
import { runUgs, sharedService, temporaryFolder, type CommandResult } from '../support/service.ts'
import { secretKeyText } from '../support/secret-key.ts'

const folder = temporaryFolder({ after })
const inTesting = ['--environment', 'Testing']

const rows = [
  '{"user_group_id":"created","name":"A, \\"quoted\\"","properties":{"a":1.0}}',
  '{"user_group_id":"second","name":"B","mapping":{"40":"213"}}',
  '',
  '{"user_group_id":"refused"}',
  '{"user_group_id":"\\u001b[31mred","name":1}',
].join('\n')

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function assertUsage({ code, stdout, stderr }: CommandResult, message: RegExp): void {
  assert.deepEqual([code, stdout], [2, ''], stderr)
  assert.match(stderr, message)
}

describe('ugs import and export', () => {
  const service = sharedService()
  const ugs = (...args: string[]) => service().ugs(...args)
  /** Runs a command with a text on standard input. */
  const piped = (input: string, ...args: string[]) => {
    const { dataFolder, databaseUrl } = service()
    return runUgs(
      args,
      { UGS_DATA_DIR: dataFolder, ...(databaseUrl && { DATABASE_URL: databaseUrl }) },
      input,
    )
  }
  const admin = async () =>
    adminApi(service().origin, await createApiToken(service(), 'Testing', '--scopes', 'admin'))
  const find = async (id: string) => {
    const { body } = await (await admin()).searchUserGroups({ query: { user_group_id_prefix: id } })
    return (body as { user_groups: AdminUserGroup[] }).user_groups[0]
  }

  it('import lists refused rows and imports the others', async () => {
    const path = file('rows.ndjson', rows)
    const dry = await ugs('import', path, ...inTesting, '--dry-run')
    assert.equal(dry.code, 1)
    assert.match(dry.stderr, /^4 rows: 2 would be created, 0 would be updated, 0 unchanged, 2 refused\.$/m)
    assert.equal(await find('created'), undefined)

    const { code, stdout, stderr } = await ugs('import', path, ...inTesting)
    assert.equal(code, 1)
    assert.equal(stdout, dry.stdout)
    assert.equal(
      stdout,
      'line 4 (refused): name: is required to create a user group, and none has this id yet\n' +
        'line 5 (\\u001b[31mred): user_group_id: must not have control characters (U+0000 to U+001F, U+007F to U+009F); name: must be a string\n',
    )
    assert.match(stderr, /^4 rows: 2 created, 0 updated, 0 unchanged, 2 refused\.$/m)
    assert.match(stderr, /^ugs: some rows could not be imported$/m)
    const created = await find('created')
    assert.deepEqual([created?.name, created?.properties], ['A, "quoted"', { a: 1 }])
    assert.equal(created?.updated_by, `cli:${userInfo().username}`)
  })

  it('import of valid rows exits with 0, and importing them again changes nothing', async () => {
    const good = file('good.jsonl', '{"user_group_id":"good","name":"A"}\n')
    const first = await ugs('import', good, ...inTesting)
    assert.deepEqual([first.code, first.stdout], [0, ''])
    assert.match(first.stderr, /^1 row: 1 created, 0 updated, 0 unchanged, 0 refused\.\n$/m)
    const second = await writingNothing(service(), () => ugs('import', good, ...inTesting))
    assert.equal(second.code, 0)
    assert.match(second.stderr, /^1 row: 0 created, 0 updated, 1 unchanged, 0 refused\.\n$/m)
  })

  it('import --json prints the response of the API', async () => {
    for (const dryRun of [true, false]) {
      const path = file('json.ndjson', rows.replaceAll('"created"', `"json ${dryRun}"`))
      const response = await (
        await admin()
      ).importUserGroups({ body: readFileSync(path), query: { dry_run: true } })
      const { code, stdout, stderr } = await ugs(
        'import',
        path,
        ...inTesting,
        '--json',
        ...(dryRun ? ['--dry-run'] : []),
      )
      assert.equal(code, 1)
      assert.equal(
        stdout,
        dryRun ? response.text : response.text.replace('"dry_run":true', '"dry_run":false'),
      )
      assert.match(stderr, /ugs: some rows could not be imported\n$/)
    }
  })

  it('import reads standard input in the given format', async () => {
    const csv = 'user_group_id,name\r\nfrom-input,"A\nB"\r\nother-input,C\r\n'
    const { code, stdout } = await piped(csv, 'import', '-', ...inTesting, '--format', 'csv')
    assert.equal(code, 1)
    assert.match(stdout, /^line 2 \(from-input\): name: must not have control characters/)
    assert.equal((await find('other-input'))?.name, 'C')
    const asNdjson = await piped(
      '{"user_group_id":"other-input","name":"D"}',
      'import',
      '-',
      '--format=ndjson',
      ...inTesting,
    )
    assert.equal(asNdjson.code, 0, asNdjson.stderr)
    assert.equal((await find('other-input'))?.name, 'D')
  })

  it('the format is that of the file name, case-insensitive, or of --format', async () => {
    const csv = 'user_group_id,name\nending,A\n'
    for (const [name, ...options] of [
      ['e.CSV'],
      ['e.csv'],
      ['e.txt', '--format', 'csv'],
      ['e.ndjson', '--format', 'csv'],
    ] as const) {
      const { code, stderr } = await ugs('import', file(name, csv), ...inTesting, ...options)
      assert.equal(code, 0, `${name}: ${stderr}`)
    }
    for (const name of ['e.txt', 'e', 'csv', 'e.csv.gz'])
      assertUsage(
        await ugs('import', file(name, csv), ...inTesting),
        /^ugs: the file name does not end in \.ndjson, \.jsonl or \.csv: add --format/,
      )
    assertUsage(await piped(csv, 'import', '-', ...inTesting), /^ugs: the file name does not end in/)
    assertUsage(await ugs('export', '-', ...inTesting), /^ugs: the file name does not end in/)
    assertUsage(
      await ugs('import', 'e.csv', ...inTesting, '--format', 'json'),
      /Allowed choices are ndjson, csv/,
    )
  })

  it('import takes a delimiter, and detects it otherwise', async () => {
    const path = file('delimiter.csv', '\ufeffuser_group_id;name\r\ndelimiter;A, B\r\n;\r\n')
    for (const options of [[], ['--delimiter', ';']]) {
      const { code, stderr } = await ugs('import', path, ...inTesting, ...options)
      assert.equal(code, 0, stderr)
      assert.equal((await find('delimiter'))?.name, 'A, B')
    }
    const tabs = file('tabs.csv', 'user_group_id\tname\ndelimiter\tA;B\n')
    for (const delimiter of ['tab', '\t', '\\t'])
      assert.equal((await ugs('import', tabs, ...inTesting, '--delimiter', delimiter)).code, 0)
    assert.equal((await find('delimiter'))?.name, 'A;B')
    assertUsage(await ugs('import', path, ...inTesting, '--delimiter', ','), /it has "user_group_id;name"$/m)
    assertUsage(
      await ugs('import', path, ...inTesting, '--delimiter', ':'),
      /Allowed choices are ,, ;, \|, tab\./,
    )
    assertUsage(
      await ugs('import', file('d.ndjson', rows), ...inTesting, '--delimiter', ';'),
      /^ugs: --delimiter is for CSV only$/m,
    )
  })

  it('import of CSV stops at a quote that is not closed', async () => {
    const path = file('open.csv', 'user_group_id,name\nopen-1,A\nopen-2,"B\nopen-1,Renamed\n')
    const { code, stdout, stderr } = await ugs('import', path, ...inTesting)
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^line 3 \(\?\): The row has a quote that is not closed .* fix it and import the file again\n$/,
    )
    assert.match(stderr, /^2 rows: 1 created, 0 updated, 0 unchanged, 1 refused\.$/m)
    assert.equal((await find('open-1'))?.name, 'A')
    assertUsage(
      await ugs('import', file('array.ndjson', `[${rows}]`), ...inTesting),
      /^ugs: Line 1 starts a JSON array, .* jq -c '\.\[\]' FILE\.json > FILE\.ndjson$/m,
    )
  })

  it('wrong usage exits with 2', async () => {
    assertUsage(await ugs('import', file('w.csv', 'a\n')), /required option '--environment/)
    assertUsage(await ugs('import', ...inTesting), /missing required argument 'file'/)
    assertUsage(await ugs('export', ...inTesting), /missing required argument 'file'/)
    assertUsage(
      await ugs('import', file('w.csv', 'nonsense\na\n'), ...inTesting),
      /^ugs: Line 1 must name the columns, .*; it has "nonsense"$/m,
    )
    const elsewhere = ['--workspace', 'nowhere', ...inTesting]
    assertUsage(
      await ugs('import', file('w.csv', 'user_group_id\n'), ...elsewhere),
      /^ugs: there is no workspace "nowhere"/,
    )
    assertUsage(
      await ugs('export', join(folder, 'w.csv'), ...elsewhere),
      /^ugs: there is no workspace "nowhere"/,
    )
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.unfinished')),
      [],
    )
  })

  it('an unreadable or unwritable file exits with 1 and is named', async () => {
    const sub = join(folder, 'folder.csv')
    mkdirSync(sub)
    for (const [args, message] of [
      [
        ['import', join(folder, 'missing.csv')],
        /^ugs: the file ".*missing\.csv" cannot be read \(ENOENT\)$/m,
      ],
      [['import', sub], /^ugs: the file ".*folder\.csv" cannot be read \(EISDIR\)$/m],
      [['import', file('empty.ndjson', '')], /^ugs: the file ".*empty\.ndjson" is empty$/m],
      [
        ['export', join(folder, 'missing', 'x.csv')],
        /^ugs: the file ".*x\.csv" cannot be written \(ENOENT\)$/m,
      ],
      [['export', sub], /^ugs: the file ".*folder\.csv" cannot be written \(EISDIR\)$/m],
    ] as const) {
      const { code, stdout, stderr } = await ugs(...args, ...inTesting)
      assert.deepEqual([code, stdout], [1, ''], stderr)
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /internal error|\bat .*:\d+/)
    }
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.unfinished')),
      [],
    )
  })

  it('export writes the response of the API, and import reads it', async () => {
    for (const format of ['ndjson', 'csv']) {
      const path = join(folder, `export.${format}`)
      // An existing file is replaced.
      writeFileSync(path, 'x'.repeat(100_000))
      const { code, stdout, stderr } = await ugs('export', path, ...inTesting)
      assert.deepEqual([code, stdout], [0, ''], stderr)
      const { text } = await (await admin()).exportUserGroups({ query: { format } })
      assert.equal(readFileSync(path, 'utf8'), text)
      const count = Number(/^Exported (\d+) user groups\.$/m.exec(stderr)?.[1])
      assert.ok(count > 2)
      const toOutput = await ugs('export', '-', '--format', format, ...inTesting, '--json')
      assert.equal(toOutput.stdout, text)
      assert.match(toOutput.stderr, new RegExp(`^\\{"rows":${count}\\}$`, 'm'))
      const again = await ugs('import', path, ...inTesting)
      assert.equal(again.code, 0)
      assert.match(
        again.stderr,
        new RegExp(`^${count} rows: 0 created, 0 updated, ${count} unchanged, 0 refused\\.$`, 'm'),
      )
    }
  })

  it('a failed export keeps the previous file and leaves no other', async () => {
    const { dataFolder, databaseUrl } = service()
    const path = file('whole.csv', 'what was there\n')
    const failing = await runUgs(['export', path, ...inTesting], {
      UGS_DATA_DIR: dataFolder,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      UGS_SECRET_KEYS: secretKeyText('other', 1),
    })
    assert.deepEqual([failing.code, failing.stdout], [1, ''])
    assert.equal(readFileSync(path, 'utf8'), 'what was there\n')
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('whole.csv')),
      ['whole.csv'],
    )
  })
})
