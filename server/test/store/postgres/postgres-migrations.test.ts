import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Client } from 'pg'
import { readMigrations } from '../../../src/store/migrations.ts'
import { readBlocks } from '../../docs/blocks.ts'
import { DatabaseProxy } from '../../support/database-proxy.ts'
import { freshDatabase } from '../../support/database.ts'
import { freshRole } from '../../support/role.ts'
import { openSession } from '../../support/session.ts'
import {
  assertPlaceRefused,
  brief,
  caughtInTurn,
  created,
  openPostgres,
  rowsOf,
  setForDatabase,
  statements,
  valueOf,
} from './postgres-support.ts'

const versions = readMigrations('postgres').length

interface Database {
  readonly url: string
  /** Session of a superuser. */
  readonly session: Client
}

async function emptyDatabase(t: TestContext): Promise<Database> {
  const url = await freshDatabase(t)
  return { url, session: await openSession(t, url) }
}

/** Creates a migrated database. */
async function migratedDatabase(t: TestContext): Promise<Database> {
  const database = await emptyDatabase(t)
  await openPostgres(t, database.url)
  return database
}

const tablesOf = (session: Client) =>
  valueOf(
    session,
    `SELECT coalesce(string_agg(tablename, ' ' ORDER BY tablename), '')
                    FROM pg_tables WHERE schemaname = 'public'`,
  )

describe('PostgreSQL: the tables', () => {
  it('are migrated by one of many stores that open at once', async (t) => {
    const { url } = await emptyDatabase(t)
    const stores = await Promise.all(Array.from({ length: 10 }, () => openPostgres(t, url, { poolSize: 2 })))
    await Promise.all(stores.map((store) => created(store)))
    assert.equal(await rowsOf(url, 'schema_migration'), versions)
    assert.equal(await rowsOf(url, 'workspace'), 1)
  })

  for (const isolation of ['repeatable read', 'serializable']) {
    it(`are migrated by one of many stores with default isolation ${isolation}`, async (t) => {
      const { url } = await emptyDatabase(t)
      await setForDatabase(t, url, `default_transaction_isolation = '${isolation}'`)
      await Promise.all(Array.from({ length: 5 }, () => openPostgres(t, url, { poolSize: 2 })))
      assert.equal(await rowsOf(url, 'schema_migration'), versions)
    })
  }

  it('are awaited while another process migrates them, beyond all timeouts', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const next = proxy.next(statements.commit)
    const first = openPostgres(t, proxy.url)
    const caught = await next
    const waiting = await DatabaseProxy.start(t, url)
    const attempts = caughtInTurn(waiting, statements.lockMigrations, 16)
    const second = openPostgres(t, waiting.url, { ...brief, lockTimeoutMs: 1, statementTimeoutMs: 500 })
    // There is one attempt every 100 ms, so the wait is longer than each of these timeouts.
    await attempts
    caught.pass()
    await Promise.all([created(await first), created(await second)])
    assert.equal(await rowsOf(url, 'schema_migration'), versions)
  })

  it('are created completely or not at all when the connection is lost, and then by the next start', async (t) => {
    const { url, session } = await emptyDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const next = proxy.next(statements.commit)
    const opened = assertPlaceRefused(
      openPostgres(t, proxy.url),
      proxy.url,
      /cannot be reached.*\(ECONNRESET\)/,
    )
    ;(await next).drop()
    await opened
    assert.equal(await tablesOf(session), '')
    await created(await openPostgres(t, proxy.url))
  })

  it('are found up to date when the connection was lost right after the commit', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const next = proxy.next(statements.commit)
    const opened = assert.rejects(openPostgres(t, proxy.url), { name: 'StoreError' })
    const caught = await next
    await caught.run()
    caught.cutOff()
    await opened
    await created(await openPostgres(t, proxy.url, { migrate: 'check' }))
    assert.equal(await rowsOf(url, 'schema_migration'), versions)
  })

  it('are refused with a remedy when a newer release has migrated them', async (t) => {
    const { url, session } = await migratedDatabase(t)
    await session.query("INSERT INTO schema_migration VALUES (1000, 'from the future', 0)")
    await assertPlaceRefused(
      openPostgres(t, url),
      url,
      `the database has schema version 1000, and this release knows up to ${versions}; start the release that wrote it, or a newer one`,
    )
  })

  /** A migration of a later release that alters a table in use and creates another. */
  const later = [
    ...readMigrations('postgres'),
    {
      version: versions + 1,
      name: 'additive-note',
      sql: 'ALTER TABLE user_group ADD COLUMN note text; CREATE TABLE note (id bigint PRIMARY KEY)',
    },
  ]

  it('are altered in short attempts while another transaction has locked them', async (t) => {
    const { url, session } = await migratedDatabase(t)
    await session.query('BEGIN; SELECT FROM user_group')
    let attempts = 0
    // A request in between does not wait for the migration.
    const onLocked = () => {
      attempts++
      if (attempts === 2) void session.query('COMMIT')
    }
    await created(await openPostgres(t, url, { migrations: later, onLocked }))
    assert.ok(attempts >= 2)
    assert.equal(await rowsOf(url, 'note'), 0)
  })

  it('that a migration adds get the permissions of the role of the service', async (t) => {
    const { url, session } = await migratedDatabase(t)
    const role = await freshRole(t, url)
    const name = new URL(role).username
    await session.query(`GRANT SELECT, INSERT ON user_group TO ${name}; GRANT SELECT ON user_group TO PUBLIC`)
    await openPostgres(t, url, { migrations: later })
    const privileges = await valueOf(
      session,
      `SELECT string_agg(grantee || ' ' || privilege_type, ', ' ORDER BY grantee, privilege_type)
       FROM information_schema.role_table_grants WHERE table_name = 'note' AND grantee IN ('PUBLIC', '${name}')`,
    )
    assert.equal(privileges, `PUBLIC SELECT, ${name} INSERT, ${name} SELECT`)
  })

  const others: Record<string, { sql: string; message: string }> = {
    'a migration table': {
      sql: 'CREATE TABLE schema_migration (version integer); INSERT INTO schema_migration VALUES (7)',
      message: 'the database belongs to another program; use another database',
    },
    'a table with the name of a table of this service': {
      sql: 'CREATE TABLE superseded_token (a text)',
      message:
        'the database has tables of another program with the same names; use a database, or a role with a search_path, of its own',
    },
  }
  for (const [title, { sql, message }] of Object.entries(others)) {
    it(`of another program, ${title}, are refused with a remedy and left unchanged`, async (t) => {
      const { url, session } = await emptyDatabase(t)
      await session.query(sql)
      const before = await tablesOf(session)
      await assertPlaceRefused(openPostgres(t, url), url, message)
      assert.equal(await tablesOf(session), before)
    })
  }

  it('of another program with other names are ignored', async (t) => {
    const { url, session } = await emptyDatabase(t)
    await session.query('CREATE TABLE something (a text); INSERT INTO something VALUES (1)')
    await created(await openPostgres(t, url))
    assert.equal(await rowsOf(url, 'something'), 1)
  })
})

describe('PostgreSQL: a database', () => {
  it('is refused with a remedy when its encoding is not UTF8', async (t) => {
    const { url, session } = await emptyDatabase(t)
    const name = `${new URL(url).pathname.slice(1)}_ascii`
    await session.query(
      `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'`,
    )
    try {
      const ascii = Object.assign(new URL(url), { pathname: name }).href
      await assertPlaceRefused(
        openPostgres(t, ascii),
        ascii,
        'the encoding of the database must be UTF8; create it with ENCODING UTF8 TEMPLATE template0',
      )
    } finally {
      const last = new URL(url)
      last.pathname = 'postgres'
      const cleaner = await openSession(t, last.href)
      await cleaner.query(`DROP DATABASE ${name} WITH (FORCE)`)
    }
  })

  it('is refused with a remedy when it does not exist', async (t) => {
    const url = `${await freshDatabase(t)}_not`
    await assertPlaceRefused(
      openPostgres(t, url),
      url,
      'the database does not exist; create it, or use another one in the URL (3D000)',
    )
  })

  it('refuses a role without the right to log in, with a remedy and without the password', async (t) => {
    const { url } = await emptyDatabase(t)
    const role = await freshRole(t, url, 'NOLOGIN')
    const { username, password } = new URL(role)
    await assertPlaceRefused(openPostgres(t, role), url, (message) => {
      assert.match(
        message,
        /the role or its password is refused; check the user and the password in the URL \(28\w{3}\)$/,
      )
      assert.ok(!message.includes(password) && !message.includes(username))
    })
  })

  it('refuses a role without the right to connect, with a remedy', async (t) => {
    const { url, session } = await emptyDatabase(t)
    await session.query(`REVOKE CONNECT ON DATABASE ${new URL(url).pathname.slice(1)} FROM PUBLIC`)
    await assertPlaceRefused(
      openPostgres(t, await freshRole(t, url)),
      url,
      'the role lacks rights; grant it CONNECT on the database, and all on its tables (42501)',
    )
  })

  it('refuses a role without the right to create tables, with a remedy', async (t) => {
    const { url, session } = await emptyDatabase(t)
    await session.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const role = await freshRole(t, url)
    await assertPlaceRefused(
      openPostgres(t, role),
      url,
      'the role may not create tables here; grant it CREATE on the schema, or run `ugs migrate` with a role that may',
    )
  })

  it('refuses a role without a right on a table, with a remedy, until it has the documented grants', async (t) => {
    const { url, session } = await emptyDatabase(t)
    const role = await freshRole(t, url)
    await openPostgres(t, url)
    await assertPlaceRefused(
      openPostgres(t, role),
      url,
      'the role lacks rights; grant it CONNECT on the database, and all on its tables (42501)',
    )
    const name = new URL(role).username
    const [, grants] = readBlocks('docs/postgresql.md', 'Permissions', 2)
    await session.query(grants.replaceAll('ugs_service', name))
    await created(await openPostgres(t, role))
    await session.query(`REVOKE USAGE ON SEQUENCE user_group_team_id_seq FROM ${name}`)
    await assertPlaceRefused(
      openPostgres(t, role),
      url,
      'the role lacks rights; grant it USAGE on SEQUENCE user_group_team_id_seq (42501)',
    )
    await session.query(`REVOKE DELETE ON data_source, superseded_token FROM ${name}`)
    await assertPlaceRefused(
      openPostgres(t, role),
      url,
      'the role lacks rights; grant it SELECT, INSERT, UPDATE, DELETE on data_source, superseded_token (42501)',
    )
  })
})
