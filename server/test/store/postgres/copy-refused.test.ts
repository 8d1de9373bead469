import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Client } from 'pg'
import type { Store } from '../../../src/domain/store.ts'
import { freshDatabase } from '../../support/database.ts'
import { freshRole } from '../../support/role.ts'
import { openSession } from '../../support/session.ts'
import { runUgs, temporaryFolder } from '../../support/service.ts'
import { assertCopyFails, copiedTables, copyStore, stateOf } from '../../support/store-copy.ts'
import { changing, markUnfinished, sourceFile, type SourceFile } from './copy-support.ts'
import { created, placeOf } from './postgres-support.ts'
import { newWorkspace, actor } from '../contract/store-fixtures.ts'

describe('ugs store copy: a target', async () => {
  const source = await sourceFile({ after })

  /** Asserts that the target is refused and left unchanged. */
  async function isRefused(t: TestContext, url: string, message: RegExp, from = source): Promise<void> {
    const before = await stateOf(t, url)
    assertCopyFails(await copyStore(from.url, url), message)
    assert.deepEqual(await stateOf(t, url), before)
  }

  const isNotEmpty = /^ugs: the target already contains other data; use an empty database$/
  const contents: Record<string, (store: Store) => Promise<unknown>> = {
    'one user group': (store) => created(store),
    'one API token': (store) =>
      store.apiTokens.create({
        ...actor,
        ...{ workspaceId: 1, environment: 'Testing', name: 'a', scopes: ['read'] },
        ...{ createdAt: 1, expiresAt: null, tokenHash: Buffer.alloc(32) },
      }),
    'a schema': (store) =>
      store.dataSources.createSchema({
        ...actor,
        ...{ workspaceId: 1, environment: 'Testing', providedId: 'a', name: 'a', createdAt: 1 },
      }),
    'another workspace': (store) => store.workspaces.create(newWorkspace('other')),
    'the check of a secret key': (store) =>
      store.secretKeys.addCheck({ keyId: 'a', sealed: Buffer.alloc(40) }),
  }
  for (const [title, add] of Object.entries(contents)) {
    it(`is refused and left unchanged when it contains ${title}`, async (t) => {
      const url = await freshDatabase(t)
      await changing({ url }, add)
      await isRefused(t, url, isNotEmpty)
    })
  }

  it('is refused when it contains a copy of another store', async (t) => {
    const url = await freshDatabase(t)
    copiedTables(await copyStore((await sourceFile(t)).url, url))
    await isRefused(t, url, isNotEmpty)
  })

  it('is refused when it was used after a finished copy', async (t) => {
    const url = await freshDatabase(t)
    copiedTables(await copyStore(source.url, url))
    await changing({ url }, created)
    await isRefused(t, url, isNotEmpty)
  })

  it('is accepted when its tables exist and are empty', async (t) => {
    const url = await freshDatabase(t)
    await changing({ url }, () => Promise.resolve())
    copiedTables(await copyStore(source.url, url))
  })

  const others: Record<string, { statement: string; message: RegExp }> = {
    'a table of another program with the name of a table of this service': {
      statement: 'CREATE TABLE user_group (id int PRIMARY KEY, name text); INSERT INTO user_group VALUES (1)',
      message: /: the database has tables of another program with the same names; use a database, or a role/,
    },
    'the migration table of another program': {
      statement: 'CREATE TABLE schema_migration (version int); INSERT INTO schema_migration VALUES (1)',
      message: /: the database belongs to another program; use another database/,
    },
  }
  for (const [title, { statement, message }] of Object.entries(others)) {
    it(`is refused and left unchanged when it contains ${title}`, async (t) => {
      const url = await freshDatabase(t)
      await (await openSession(t, url)).query(statement)
      await isRefused(t, url, message)
    })
  }

  it('is refused and left unchanged when a newer release has migrated it', async (t) => {
    const url = await freshDatabase(t)
    await changing({ url }, () => Promise.resolve())
    const session = await openSession(t, url)
    await session.query("INSERT INTO schema_migration VALUES (1000, 'additive-future', 0)")
    await isRefused(t, url, /: the database has schema version 1000, and this release knows up to \d+/)
  })

  describe('with an interrupted copy', () => {
    const notOfSource = (table: string) =>
      new RegExp(
        `^ugs: the target holds a row of ${table} that the source does not, or no longer: name an empty database$`,
      )
    const tamperings: Record<string, { table: string; statement: string }> = {
      'a row was changed': {
        table: 'user_group',
        statement: "UPDATE user_group SET name = 'x' WHERE team_id = 2",
      },
      'a row was added': {
        table: 'secret_key_check',
        statement: "INSERT INTO secret_key_check VALUES ('x', '\\x00')",
      },
    }
    const unfinished = async (t: TestContext, from: SourceFile): Promise<[url: string, session: Client]> => {
      const url = await freshDatabase(t)
      copiedTables(await copyStore(from.url, url))
      const session = await openSession(t, url)
      await session.query('DELETE FROM idempotency_key')
      await markUnfinished(session)
      return [url, session]
    }
    for (const [title, { table, statement }] of Object.entries(tamperings)) {
      it(`is refused and left unchanged when ${title} in it`, async (t) => {
        const [url, session] = await unfinished(t, source)
        assert.equal((await session.query(statement)).rowCount, 1)
        await isRefused(t, url, notOfSource(table))
      })
    }

    it('is refused and left unchanged when the interrupted copy is of another store', async (t) => {
      const [url] = await unfinished(t, source)
      await isRefused(t, url, notOfSource('workspace'), await sourceFile(t))
    })

    it('is refused when a copied row has since changed in the source', async (t) => {
      const changed = await sourceFile(t)
      const [url] = await unfinished(t, changed)
      await changing(changed, async (store) => {
        const [group] = await store.userGroups.list({
          ...{ workspaceId: 1, environment: 'Customer', afterProvidedId: null, limit: 1 },
        })
        assert.ok(group)
        await store.userGroups.update({ key: group, change: { name: 'new' }, ...actor, now: 3000 })
      })
      await isRefused(t, url, notOfSource('user_group'), changed)
    })

    it('is refused as a source', async (t) => {
      const [url] = await unfinished(t, source)
      const to = await freshDatabase(t)
      assertCopyFails(
        await copyStore(url, to),
        /: a copy into this database was not finished; run `ugs store copy` again to finish it$/,
      )
      assert.deepEqual((await stateOf(t, to)).relations, [])
    })
  })

  for (const [title, parameters] of Object.entries({
    '': '',
    ' under another URL': '?application_name=other',
  })) {
    it(`is refused and left unchanged when it is the source${title}`, async (t) => {
      const url = await freshDatabase(t)
      await changing({ url }, () => Promise.resolve())
      const before = await stateOf(t, url)
      const { code } = await copyStore(url, url + parameters)
      assert.deepEqual(await stateOf(t, url), before)
      assert.notEqual(code, 0)
    })
  }
})

describe('ugs store copy: a source', () => {
  /** Asserts that the source is refused, and that neither database is created or changed. */
  async function isRefused(t: TestContext, folder: string, from: string, message: RegExp): Promise<void> {
    const to = await freshDatabase(t)
    const read = () => readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'hex')])
    const before = read()
    assertCopyFails(await copyStore(from, to), message)
    assert.deepEqual(read(), before)
    assert.deepEqual((await stateOf(t, to)).relations, [])
  }

  it('is refused and not created when the file does not exist', async (t) => {
    const folder = temporaryFolder(t)
    for (const path of [join(folder, 'ugs.db'), join(folder, 'nowhere', 'ugs.db')]) {
      await isRefused(t, folder, `sqlite:${path}`, /ugs\.db: there is no such file$/)
    }
  })

  const files: Record<string, { create: (path: string) => void; message: RegExp }> = {
    'is not a database': {
      create: (path) => writeFileSync(path, 'This is a text and not a database. '.repeat(100)),
      message: /ugs\.db: the file is not a SQLite database; .* \(SQLITE_NOTADB\)$/,
    },
    'belongs to another program': {
      create: (path) => {
        const database = new BetterSqlite3(path)
        database.exec('CREATE TABLE user_group (a)')
        database.close()
      },
      message: /ugs\.db: the database belongs to another program/,
    },
  }
  for (const [title, { create, message }] of Object.entries(files)) {
    it(`is refused and left unchanged when the file ${title}`, async (t) => {
      const folder = temporaryFolder(t)
      const path = join(folder, 'ugs.db')
      create(path)
      await isRefused(t, folder, `sqlite:${path}`, message)
    })
  }

  const versions: Record<string, { statement: string; message: RegExp }> = {
    'a newer release': {
      statement: "INSERT INTO schema_migration VALUES (1000, 'from the future', 0)",
      message: /: the database has schema version 1000, and this release knows up to \d+; start the release/,
    },
    'a newer release with additive migrations only': {
      statement: "INSERT INTO schema_migration VALUES (1000, 'additive-future', 0)",
      message: /: the database has schema version 1000, and this release knows up to \d+; start the release/,
    },
    'an older release': {
      statement: 'DELETE FROM schema_migration',
      message: /: the database has schema version 0, and this release needs \d+; run `ugs migrate`/,
    },
  }
  for (const [title, { statement, message }] of Object.entries(versions)) {
    it(`is refused and left unchanged when it is a file of ${title}`, async (t) => {
      const { path, url } = await sourceFile(t)
      const database = new BetterSqlite3(path)
      database.exec(statement)
      database.close()
      await isRefused(t, join(path, '..'), url, message)
    })

    it(`is refused and left unchanged when it is a PostgreSQL database of ${title}`, async (t) => {
      const url = await freshDatabase(t)
      await changing({ url }, () => Promise.resolve())
      await (await openSession(t, url)).query(statement)
      const before = await stateOf(t, url)
      await isRefused(t, temporaryFolder(t), url, message)
      assert.deepEqual(await stateOf(t, url), before)
    })
  }

  it('is refused and left unchanged when it is a PostgreSQL database without the tables of this service', async (t) => {
    const url = await freshDatabase(t)
    await isRefused(t, temporaryFolder(t), url, /: the database has schema version 0, and this release needs/)
    assert.deepEqual((await stateOf(t, url)).relations, [])
  })
})

describe('ugs store copy: a database that cannot be used', async () => {
  const source = await sourceFile({ after })

  it('is named in an error message without password or stack trace', async (t) => {
    const url = new URL(await freshDatabase(t))
    url.pathname = 'there_is_none'
    assertCopyFails(
      await copyStore(source.url, url.href),
      new RegExp(`^ugs: ${placeOf(url.href)}: the database does not exist; create it, or .* \\(3D000\\)$`),
    )
    const { code, stderr } = await runUgs(
      ['store', 'copy', '--from', source.url, '--to', 'postgres://u:s3cret@127.0.0.1:1/d'],
      { UGS_POSTGRES_DEADLINE_MS: '100' },
    )
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^ugs: postgres:\/\/127\.0\.0\.1:1\/d: the server cannot be reached; .* \(ECONNREFUSED\)$/m,
    )
    assert.doesNotMatch(stderr, /s3cret/)
  })

  it('is reported with the missing rights when another role owns the tables', async (t) => {
    const url = await freshDatabase(t)
    const role = await freshRole(t, url)
    await changing({ url }, () => Promise.resolve())
    const session = await openSession(t, url)
    for (const kind of ['TABLES', 'SEQUENCES']) {
      await session.query(`GRANT ALL ON ALL ${kind} IN SCHEMA public TO ${new URL(role).username}`)
    }
    const result = await copyStore(source.url, role)
    assertCopyFails(result, /^ugs: .*\b(rights|owner|owns|grant)\b.* \(42501\)$/)
    assert.doesNotMatch(result.stderr, /run the same command again/)
  })
})
