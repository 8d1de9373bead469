import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databaseWithTokens, freshDatabase, migratedDatabase } from '../../support/database.ts'
import { commandIn, examine, examineOne, statusesOf } from '../../support/doctor.ts'
import { freshRole } from '../../support/role.ts'
import type { Scope } from '../../support/scope.ts'
import { runUgs, temporaryFolder } from '../../support/service.ts'
import { openSession } from '../../support/session.ts'

describe('ugs doctor on PostgreSQL', () => {
  /** Returns the settings of a process on a database, and a superuser's session in it. */
  async function storeIn(t: Scope, url: string) {
    const session = await openSession(t, url)
    return { settings: { DATABASE_URL: url, UGS_DATA_DIR: temporaryFolder(t) }, session }
  }

  it('reports a server that cannot be reached or refuses the role, without the password', async (t) => {
    const { settings } = await storeIn(t, await freshDatabase(t))
    const urls = [{ port: '1' }, { password: 'not-the-password' }, { pathname: 'no_such_database' }]
    for (const change of urls) {
      const url: URL = Object.assign(new URL(settings.DATABASE_URL), change)
      const environment = { ...settings, DATABASE_URL: url.href, UGS_POSTGRES_DEADLINE_MS: '100' }
      const { code, stdout, stderr } = await runUgs(['doctor', '--json'], environment)
      assert.equal(code, 1, stderr)
      assert.ok(!(stdout + stderr).includes(url.password))
      assert.equal(statusesOf(stdout).get('connection'), 'error')
      assert.equal(statusesOf(stdout).get('secret-keys'), 'skipped')
    }
  })

  it('reports tables that are missing, outdated, being filled or of another program', async (t) => {
    const empty = await storeIn(t, await freshDatabase(t))
    assert.equal((await examineOne(empty.settings, 'schema')).problem, 'The store has no tables.')

    const { settings, session } = await storeIn(t, await migratedDatabase(t))
    const schema = () => examineOne(settings, 'schema')
    await session.query("INSERT INTO schema_migration VALUES (999, 'later', 1)")
    assert.match(
      (await schema()).problem,
      /^The database has schema version 999, and this release knows up to/,
    )
    await session.query(
      "COMMENT ON TABLE schema_migration IS 'User Group Service, being filled by ugs store copy'",
    )
    assert.equal((await schema()).remedy, 'Run `ugs store copy` again.')
    await session.query("COMMENT ON TABLE schema_migration IS 'another'")
    assert.match((await schema()).problem, /belongs to another program/)
  })

  it('names the missing rights of a role, and the commands that grant them are sufficient', async (t) => {
    const { settings, session } = await storeIn(t, await migratedDatabase(t))
    const DATABASE_URL = await freshRole(t, settings.DATABASE_URL)
    const role = new URL(DATABASE_URL).username
    const asRole = { ...settings, DATABASE_URL }
    await session.query('REVOKE USAGE ON SCHEMA public FROM PUBLIC')
    const fix = async (check: string, severity: string, problem: RegExp) => {
      const finding = await examineOne(asRole, check)
      assert.equal(finding.severity, severity)
      assert.match(finding.problem, problem)
      await session.query(commandIn(finding))
      assert.deepEqual(await examine(asRole, check), [])
    }
    const hidden = await examineOne(asRole, 'schema')
    assert.equal(hidden.problem, 'The role may not use the schema public, which has the tables.')
    await session.query(commandIn(hidden))
    await fix('schema', 'error', /may not read the table schema_migration/)
    await session.query('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC')
    await fix('rights', 'error', /lacks rights on the tables/)
    await fix('ids', 'warning', /may not read the sequences workspace_workspace_id_seq, /)
    await fix('disk', 'warning', /may not see the server's data folder/)

    await session.query(`ALTER ROLE ${role} SET search_path = pg_catalog`)
    await fix('schema', 'error', /in the schema public, which the search_path of the role lacks/)
    const { code, stdout, stderr } = await runUgs(['doctor', '--skip', 'durability,disk'], asRole)
    assert.equal(code, 0, stdout + stderr)
  })

  it('reports an index that is not valid', async (t) => {
    const { settings, session } = await storeIn(t, await migratedDatabase(t))
    await session.query(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'user_group_provided_id'::regclass",
    )
    const finding = await examineOne(settings, 'indexes')
    assert.equal(finding.problem, 'The index user_group_provided_id is not valid.')
    await session.query(commandIn(finding))
    assert.deepEqual(await examine(settings, 'indexes'), [])
  })

  it('reports each missing index and key, and the commands create them', async (t) => {
    const { settings, session } = await storeIn(t, await migratedDatabase(t))
    const list = async () =>
      (
        await session.query<{ name: string; indexdef: string }>(
          `SELECT indexname AS name, indexdef FROM pg_indexes
           WHERE schemaname = 'public' AND tablename NOT IN ('schema_migration', 'locator_key') ORDER BY 1`,
        )
      ).rows
    const before = await list()
    for (const { name } of before) {
      const { rows } = await session.query(
        'SELECT conrelid::regclass AS table FROM pg_constraint WHERE conname = $1',
        [name],
      )
      await session.query(
        rows.length === 0
          ? `DROP INDEX ${name}`
          : `ALTER TABLE ${rows[0].table} DROP CONSTRAINT ${name} CASCADE`,
      )
    }
    const findings = await examine(settings, 'indexes')
    assert.equal(findings.length, before.length)
    for (const finding of findings) await session.query(commandIn(finding))
    assert.deepEqual(await list(), before)
    assert.deepEqual(await examine(settings, 'indexes'), [])
  })

  it('reports sequences near their limit, behind the ids in use, or missing', async (t) => {
    const { settings, session } = await storeIn(t, (await databaseWithTokens(t)).url)
    const ids = () => examineOne(settings, 'ids')
    await session.query("SELECT setval('user_group_team_id_seq', 8000000000000000)")
    const near = await ids()
    assert.equal(near.severity, 'warning')
    assert.match(
      near.problem,
      /^The ids of user_group\.team_id are at 8000000000000000 of at most 9007199254740991/,
    )
    await session.query("SELECT setval('user_group_team_id_seq', 9007199254740000)")
    assert.equal((await ids()).severity, 'error')
    await session.query("SELECT setval('user_group_team_id_seq', 1)")

    await session.query('ALTER SEQUENCE schema_schema_id_seq MAXVALUE 10 RESTART 10')
    await session.query("SELECT nextval('schema_schema_id_seq')")
    const limited = await ids()
    assert.match(limited.problem, /^The ids of schema\.schema_id are at 10 of at most 10/)
    await session.query(commandIn(limited))

    await session.query("SELECT setval('api_token_api_token_id_seq', 1)")
    const behind = await ids()
    assert.match(behind.problem, /api_token_api_token_id_seq is at 1, but api_token\.api_token_id has 2/)
    await session.query(commandIn(behind))
    assert.deepEqual(await examine(settings, 'ids'), [])

    await session.query('DROP SEQUENCE user_group_team_id_seq CASCADE')
    assert.equal((await ids()).problem, 'The sequence user_group_team_id_seq is missing.')
  })

  it('reports a missing table', async (t) => {
    const { settings, session } = await storeIn(t, await migratedDatabase(t))
    await session.query('DROP TABLE superseded_token')
    assert.equal((await examineOne(settings, 'schema')).problem, 'The table superseded_token is missing.')
  })

  it('compares the sequence with the ids of deleted user groups', async (t) => {
    const { settings, session } = await storeIn(t, await migratedDatabase(t))
    await session.query(
      `INSERT INTO deleted_user_group (workspace_id, team_id, environment, provided_id, name, token_hash, token_key_id, token_sealed,
         token_issued_at, created_at, updated_at, revision, deleted_at, deleted_by, bucket)
       VALUES (1, 77, 'Testing', 'a', 'A', '', 'k', '', 1, 1, 1, 1, 1, 'x', 5)`,
    )
    const behind = await examineOne(settings, 'ids')
    assert.match(behind.problem, /user_group_team_id_seq is at 0, but user_group\.team_id has 77/)
    // A migration leaves the sequence like this.
    const recreate = (start: number) =>
      session.query(
        `DROP SEQUENCE user_group_team_id_seq; CREATE SEQUENCE user_group_team_id_seq START ${start} MAXVALUE 9007199254740991`,
      )
    await recreate(78)
    assert.deepEqual(await examine(settings, 'ids'), [])
    await recreate(1)
    await session.query(commandIn(behind))
    assert.deepEqual(await examine(settings, 'ids'), [])
  })

  it('reports that commits do not wait for the disk', async (t) => {
    const { settings, session } = await storeIn(t, await freshDatabase(t))
    const name = new URL(settings.DATABASE_URL).pathname.slice(1)
    await session.query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    const problems = (await examine(settings, 'durability')).map(({ problem }) => problem)
    assert.ok(problems.includes('synchronous_commit is off: a crash loses acknowledged changes.'))
  })
})
