import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { after, describe, it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { Client } from 'pg'
import { tables } from '../../src/store/tables.ts'
import { rowsOfSource, sourceFile } from '../store/postgres/copy-support.ts'
import { freshDatabase } from '../support/database.ts'
import { DatabaseProxy } from '../support/database-proxy.ts'
import { freshRole } from '../support/role.ts'
import { runUgs, ugsFile } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { assertSameRows, copiedTables, copyStore } from '../support/store-copy.ts'
import { findTool, type Tool } from '../support/tool.ts'

/** Runs a command in a new terminal. */
const script: Tool = {
  name: 'script (of util-linux)',
  hint: 'apt-get install bsdutils',
  commands: ['script'],
  probe: ['--version'],
}

const source = await sourceFile({ after }, 2345)

/** Starts a copy in a new terminal. Skips the test and returns undefined if `script` is missing. */
function inTerminal(t: TestContext, to: string) {
  const command = findTool(t, script)
  if (command === undefined) return undefined
  const args = ['-qec', '"$NODE" "$UGS" store copy --from "$FROM" --to "$TO"', '/dev/null']
  const child = spawn(command, args, {
    env: {
      ...{ PATH: process.env.PATH, SHELL: '/bin/sh' },
      ...{ NODE: process.execPath, UGS: ugsFile, FROM: source.url, TO: to },
    },
  })
  t.after(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  return {
    output: () => output,
    type: (text: string) => child.stdin.write(text),
    exitCode: once(child, 'close').then(([code]) => code as number | null),
  }
}

/** Asserts that all terminal modes that were turned off, such as line wrapping, are on again. */
function assertModesRestored(output: string): void {
  const modes = new Map<string, string>()
  for (const part of output.split('\u001b[?').slice(1)) {
    const [, mode = '', state = ''] = /^(\d+)([hl])/.exec(part) ?? []
    modes.set(mode, state)
  }
  for (const [mode, state] of modes) assert.equal(state, 'h', `mode ${mode}`)
}

describe('ugs store copy: progress', () => {
  it('is printed as lines without a terminal', async (t) => {
    const { code, stdout, stderr } = await copyStore(source.url, await freshDatabase(t))
    assert.equal(code, 0, stderr)
    assert.equal(stdout, '')
    const lines = stderr.trimEnd().split('\n')
    const isProgress = (line: string) => /^(copying|verifying) \w+: \d+ of \d+ rows$/.test(line)
    const ends = ['copying', 'verifying'].flatMap((phase, i) =>
      Object.entries({ workspace: 2, user_group: 2345, secret_key_check: 2 }).map(
        ([table, rows]) => `${phase} ${table}: ${(i + 1) * rows} of ${(i + 1) * rows} rows`,
      ),
    )
    for (const line of [...ends, 'copying user_group: 1000 of 2345 rows'])
      assert.ok(lines.includes(line), stderr)
    const rest = lines.filter((line) => !isProgress(line))
    assert.equal(rest.length, tables.length + 1)
    for (const line of rest.slice(0, -1))
      assert.match(line, /^\w+: \d+ rows?, identical in both stores \(SHA-256 \w+\)$/)
    assert.match(
      rest.at(-1) ?? '',
      /^Copied\. Start the service with the new DATABASE_URL and the same secret keys\.$/,
    )
    assert.ok(!Array.from(stderr).some((char) => char < ' ' && char !== '\n'))
  })

  it('is shown as a bar in a terminal', async (t) => {
    const terminal = inTerminal(t, await freshDatabase(t))
    if (terminal === undefined) return
    assert.equal(await terminal.exitCode, 0)
    const output = terminal.output()
    for (const end of ['copying user_group', 'verifying user_group', 'verifying secret_key_check']) {
      assert.match(output, new RegExp(`${end} \\[=+\\] 100% `))
    }
    assert.match(output, /copying user_group \[=+\] 100% 2345 of 2345 rows, /)
    assert.doesNotMatch(output, /: \d+ of \d+ rows/)
    assert.match(output, /\nuser_group: 2345 rows, identical in both stores \(SHA-256 \w+\)\r\n/)
    assertModesRestored(output)
  })

  it('restores the terminal when Ctrl-C ends it', async (t) => {
    const url = await freshDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const caught = proxy.next(/^INSERT INTO superseded_token/)
    const terminal = inTerminal(t, proxy.url)
    if (terminal === undefined) return
    await caught
    terminal.type('\u0003')
    assert.equal(await terminal.exitCode, 128 + constants.signals.SIGINT)
    assert.match(terminal.output(), /copying user_group \[/)
    assertModesRestored(terminal.output())
    copiedTables(await copyStore(source.url, url))
  })

  it('is not printed to standard output, which has only the JSON', async (t) => {
    const { stdout, stderr } = await copyStore(source.url, await freshDatabase(t), '--json')
    const tables = JSON.parse(stdout) as { name: string; rows: number; checksum: string }[]
    assert.deepEqual(
      tables.map(({ name, rows }) => [name, rows]),
      Object.entries(rowsOfSource(2345)),
    )
    for (const { checksum } of tables) assert.match(checksum, /^[0-9a-f]{64}$/)
    assert.match(stderr, /^verifying user_group: 4690 of 4690 rows$/m)
    assert.doesNotMatch(stderr, /SHA-256|Copied/)
  })
})

describe('ugs store copy, wrong usage', () => {
  const to = 'postgres://u:s3cret@127.0.0.1/d'
  const cases: Record<string, { args: string[]; message: RegExp }> = {
    'without a source': { args: ['--to', to], message: /'--from <url>' not specified/ },
    'without a target': { args: ['--from', source.url], message: /'--to <url>' not specified/ },
    'into a file': {
      args: ['--from', source.url, '--to', 'sqlite:there.db'],
      message: /^ugs: --to: must be a PostgreSQL database, in the form postgres:\/\/…$/m,
    },
    'from another kind of database': {
      args: ['--from', 'mysql://u:s3cret@h/d', '--to', to],
      message: /^ugs: --from: must have the form sqlite:PATH or postgres:/m,
    },
    'from no file': { args: ['--from', 'sqlite:', '--to', to], message: /^ugs: --from: must name a file/m },
    'from memory': { args: ['--from', 'sqlite::memory:', '--to', to], message: /--from: must name a file/ },
    'into no database': {
      args: ['--from', source.url, '--to', 'postgres://u:s3cret@h'],
      message: /^ugs: --to: must name the database/m,
    },
    'with a wrong port': {
      args: ['--from', source.url, '--to', 'postgres://u:s3cret@h:x/d'],
      message: /^ugs: --to: must name a host|^ugs: --to: the port must be a whole number/m,
    },
    'with an unknown parameter': {
      args: ['--from', source.url, '--to', `${to}?passwort=s3cret`],
      message: /^ugs: --to: unknown parameter "passwort"/m,
    },
    'with a "%" in the password': {
      args: ['--from', source.url, '--to', 'postgres://u:s3cret%@h/d'],
      message: /^ugs: --to: the password is not percent-encoded correctly: write "%" as %25$/m,
    },
    'with a "/" in the password': {
      args: ['--from', source.url, '--to', 'postgres://u:a/s3cret@h/d'],
      message: /^ugs: --to: has an "@" after the "\/": write "\/" in a password as %2F$/m,
    },
    'with a "?" in the password': {
      args: ['--from', source.url, '--to', 'postgres://u:a?s3cret@h/d'],
      message: /^ugs: --to: /m,
    },
    'with a URL that belongs to no option': {
      args: ['--from', source.url, '--to', to, to],
      message: /too many arguments/,
    },
    'with a URL of an unknown option': {
      args: ['--from', source.url, '--to', to, `--into=${to}`],
      message: /unknown option '--into/,
    },
    'with a URL of an unknown option, and an "@" in its password': {
      args: ['--from', source.url, '--to', to, '--into=postgres://u:a@s3cret@h/d'],
      message: /unknown option '--into/,
    },
  }
  for (const [name, { args, message }] of Object.entries(cases)) {
    it(`${name}, exits with 2 and repeats no password`, async () => {
      const { code, stdout, stderr } = await runUgs(['store', 'copy', ...args], {})
      assert.doesNotMatch(stdout + stderr, /s3cret/)
      assert.equal(code, 2, stderr)
      assert.match(stderr, message)
    })
  }
})

describe('ugs store copy: memory', () => {
  it('does not grow with the size of the user groups', async (t) => {
    const large = await sourceFile(t)
    const entries = Array.from({ length: 1000 }, (_, i) => [String(i).padEnd(255, 'k'), '"'.repeat(255)])
    const database = new BetterSqlite3(large.path)
    database
      .prepare(
        `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, token_hash, token_key_id,
                                 token_sealed, token_issued_at, created_at, updated_at)
         WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 60)
         SELECT 1, 'Customer', 'large ' || i, 'A', ?, randomblob(32), 'one', randomblob(80), 1, 1, 1 FROM number`,
      )
      .run(JSON.stringify(Object.fromEntries(entries)))
    database.close()
    const url = await freshDatabase(t)
    // All rows together need several times as much memory.
    const smallHeap = { NODE_OPTIONS: '--max-old-space-size=128' }
    copiedTables(await runUgs(['store', 'copy', '--from', large.url, '--to', url], smallHeap))
    await assertSameRows(t, large.path, url)
  })
})

describe('ugs store copy: the password', () => {
  /** Creates a database with its own role and returns the URL with the password. */
  async function ownedDatabase(t: TestContext): Promise<URL> {
    const url = await freshDatabase(t)
    const owned = new URL(await freshRole(t, url))
    await (await openSession(t, url)).query(`GRANT CREATE ON SCHEMA public TO ${owned.username}`)
    return owned
  }

  async function requiresPassword(url: URL): Promise<boolean> {
    const client = new Client(Object.assign(new URL(url), { password: 'wrong' }).href)
    return client.connect().then(
      () => client.end().then(() => false),
      () => true,
    )
  }

  // A connection that is left open after a failed login would delay the exit by the 60 s of `authentication_timeout`.
  it('can be in PGPASSWORD', { timeout: 30_000 }, async (t) => {
    const url = await ownedDatabase(t)
    const { password: PGPASSWORD } = url
    url.password = ''
    const copy = (environment: Record<string, string>) =>
      runUgs(['store', 'copy', '--from', source.url, '--to', url.href], environment)
    copiedTables(await copy({ PGPASSWORD }))
    await assertSameRows(t, source.path, Object.assign(new URL(url), { password: PGPASSWORD }).href)
    if (!(await requiresPassword(url))) {
      t.diagnostic('the server requires no password, so this test cannot check it')
      return
    }
    for (const environment of [{}, { PGPASSWORD: 's3cret' }]) {
      const { code, stderr } = await copy(environment)
      assert.equal(code, 1)
      assert.match(stderr, /^ugs: postgres:\/\/\S+: the role or its password is refused; .* \(28P01\)$/m)
      assert.doesNotMatch(stderr, /s3cret/)
    }
  })
})
