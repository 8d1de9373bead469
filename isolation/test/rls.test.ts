import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pgbouncer, startPgBouncer } from '../../server/test/support/pgbouncer.ts'
import { openSession } from '../../server/test/support/session.ts'
import { findTool } from '../../server/test/support/tool.ts'
import { newFolder, type TestDatabase } from './databases.ts'
import { run, writeFiles } from './probe-command.ts'
import { config, createRlsDatabase, type RlsDatabase } from './rls-database.ts'

interface Finding {
  readonly object: string
  readonly problem: string
  readonly fix: string
}

const own = "nullif(current_setting('ugs.user_group_id', true), '')"

/** Wrong configurations, with their only finding. */
const wrong: Readonly<Record<string, [sql: (role: string) => string, finding: RegExp]>> = {
  'a superuser': [(role) => `ALTER ROLE ${role} SUPERUSER`, /is a superuser/],
  BYPASSRLS: [(role) => `ALTER ROLE ${role} BYPASSRLS`, /has BYPASSRLS/],
  'a member of a superuser': [
    (role) => `DO $$ BEGIN EXECUTE format('GRANT %I TO ${role}', current_user); END $$`,
    /is a member of .*, to which no policy applies/,
  ],
  REPLICATION: [(role) => `ALTER ROLE ${role} REPLICATION`, /has REPLICATION/],
  'a role that may read files': [
    (role) => `GRANT pg_read_server_files TO ${role}`,
    /is a member of pg_read_server_files/,
  ],
  'a table that only a view can read': [
    (role) =>
      `CREATE SCHEMA hidden; CREATE TABLE hidden.copy AS SELECT * FROM sales; GRANT SELECT ON hidden.copy TO ${role};
       CREATE VIEW copy WITH (security_invoker) AS SELECT * FROM hidden.copy`,
    /^hidden\.copy may be read by \w+, and isolation\.json does not list it/,
  ],
  'a SECURITY DEFINER function that only a view can call': [
    (role) =>
      `CREATE SCHEMA hidden; CREATE FUNCTION hidden.total() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT sum(amount) FROM sales $$;
       CREATE VIEW total WITH (security_invoker) AS SELECT hidden.total(); GRANT SELECT ON total TO ${role}`,
    /^hidden\.total\(\) is a SECURITY DEFINER function/,
  ],
  'a policy that fails without a customer': [
    () => `ALTER POLICY ugs_isolation ON sales USING (customer = current_setting('ugs.user_group_id'))`,
    /^public\.sales has the policy ugs_isolation, which is not/,
  ],
  'the owner': [(role) => `ALTER TABLE sales OWNER TO ${role}`, /^public\.sales \w+ owns it/],
  'no row-level security': [
    () => 'ALTER TABLE sales DISABLE ROW LEVEL SECURITY',
    /^public\.sales has no row-level security/,
  ],
  'no FORCE': [
    () => 'ALTER TABLE sales NO FORCE ROW LEVEL SECURITY',
    /^public\.sales has row-level security that does not apply to its owner/,
  ],
  'no policy': [() => 'DROP POLICY ugs_isolation ON sales', /^public\.sales has no policy for SELECT/],
  'a policy on another column': [
    () => `ALTER POLICY ugs_isolation ON sales USING (month::text = ${own})`,
    /^public\.sales has the policy ugs_isolation, which is not that of ugs-isolation rls print for customer/,
  ],
  'a policy that an empty setting meets': [
    () => `ALTER POLICY ugs_isolation ON sales USING (customer = current_setting('ugs.user_group_id', true))`,
    /^public\.sales has the policy ugs_isolation, which is not/,
  ],
  'a second permissive policy': [
    () => 'CREATE POLICY managers ON sales USING (true)',
    /^public\.sales has the second permissive policy managers/,
  ],
  'a view without security_invoker': [
    (role) => `CREATE VIEW all_sales AS SELECT * FROM sales; GRANT SELECT ON all_sales TO ${role}`,
    /^public\.all_sales is a view that reads with the rights of its owner/,
  ],
  'a materialized view': [
    (role) => `CREATE MATERIALIZED VIEW totals AS SELECT * FROM sales; GRANT SELECT ON totals TO ${role}`,
    /^public\.totals is a materialized view/,
  ],
  'a SECURITY DEFINER function': [
    () =>
      'CREATE FUNCTION total(integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT sum(amount) FROM sales $$',
    /^public\.total\(integer\) is a SECURITY DEFINER function/,
  ],
  'an unlisted readable table': [
    () => 'GRANT SELECT (customer) ON invoices TO PUBLIC',
    /^public\.invoices may be read by \w+, and isolation\.json does not list it/,
  ],
  'a partition': [
    (role) =>
      `CREATE TABLE parts (customer text) PARTITION BY LIST (customer); CREATE TABLE part PARTITION OF parts DEFAULT; GRANT SELECT ON part TO ${role}`,
    /^public\.part may be read/,
  ],
  'a setting of the role': [
    (role) => `ALTER ROLE ${role} SET ugs.user_group_id = '42'`,
    /^ugs\.user_group_id is set outside of a transaction/,
  ],
  'a collation that ignores case': [
    () => `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
           DROP POLICY ugs_isolation ON sales; ALTER TABLE sales ALTER COLUMN customer TYPE text COLLATE loose;
           CREATE POLICY ugs_isolation ON sales FOR SELECT USING (customer = ${own})`,
    /^public\.sales has the column customer with a collation/,
  ],
}

describe('rls verify', () => {
  it('finds nothing after the SQL of rls print, also behind PgBouncer', async (t) => {
    const database = await createRlsDatabase(t)
    assert.deepEqual(await verify(database), { exitCode: 0, findings: [] })
    const command = findTool(t, pgbouncer)
    if (command === undefined) return
    const behind = await startPgBouncer(t, command, 2, {}, database.url)
    const url = behind(database.adminUrl)
    assert.deepEqual(await verify({ ...database, url }), { exitCode: 0, findings: [] })
  })

  for (const [name, [sql, expected]] of Object.entries(wrong)) {
    it(`finds ${name}, and nothing after its fix`, async (t) => {
      const database = await createRlsDatabase(t)
      await database.admin.query(sql(database.role))
      try {
        const { exitCode, findings } = await verify(database)
        const [first] = findings
        assert.equal(exitCode, 1)
        assert.match(`${first?.object} ${first?.problem}`, expected)
        const { output } = await run(database, ['rls', 'verify'])
        assert.match(output, /^WRONG {2}.*\. Fix: /)
        await database.admin.query(first?.fix ?? '')
        const after = await verify(database)
        assert.deepEqual(after, { exitCode: 0, findings: [] })
      } finally {
        await database.admin.query(`ALTER TABLE sales OWNER TO CURRENT_USER; DROP OWNED BY ${database.role}`)
      }
    })
  }

  it('finds a setting that a client of the pool left', async (t) => {
    const command = findTool(t, pgbouncer)
    if (command === undefined) return
    const database = await createRlsDatabase(t)
    const url = (await startPgBouncer(t, command, 1, {}, database.url))(database.adminUrl)
    const careless = await openSession(t, url)
    await careless.query("SELECT set_config('ugs.user_group_id', '42', false)")
    const { exitCode, findings } = await verify({ ...database, url })
    assert.equal(exitCode, 1)
    assert.deepEqual(
      findings.map(({ object, problem }) => `${object} ${problem}`),
      [
        'ugs.user_group_id is set outside of a transaction, so that the next client of a connection pool gets it',
      ],
    )
  })

  it('finds another role than that of the configuration', async (t) => {
    const database = await createRlsDatabase(t)
    const { exitCode, findings } = await verify({ ...database, url: database.adminUrl })
    assert.equal(exitCode, 1)
    assert.match(findings[0]?.problem ?? '', /^is the role of DATABASE_URL, and not ugs_test_/)
    assert.match(findings[1]?.problem ?? '', /^is a superuser/)
  })

  it('exits with 2 if it could not check', async (t) => {
    const database = await createRlsDatabase(t)
    const failures: readonly [message: RegExp, changed: Partial<TestDatabase>, members: object][] = [
      [/refuses the connection/, { url: 'postgres://nobody@127.0.0.1:1/none' }, {}],
      [/DATABASE_URL must be the postgres:\/\/ URL/, { url: 'sqlite:test.db' }, {}],
      [/the database has no table missing/, {}, { tables: { missing: 'customer' } }],
      [/public\.sales has no column missing/, {}, { tables: { 'public.sales': 'missing' } }],
      [/permission denied for table invoices/, {}, { tables: { ...config.tables, invoices: 'customer' } }],
    ]
    for (const [message, changed, members] of failures) {
      writeFiles(database.folder, {
        'isolation.json': JSON.stringify({ ...config, role: database.role, ...members }),
      })
      const { exitCode, errors, output } = await run({ ...database, ...changed }, ['rls', 'verify'])
      assert.equal(exitCode, 2, output)
      assert.match(errors, message)
      assert.equal(output, '')
    }
  })
})

describe('rls print', () => {
  it('quotes names', async (t) => {
    const folder = newFolder(t)
    const role = 'the "readers"'
    writeFiles(folder, {
      'isolation.json': JSON.stringify({
        role,
        tables: { 'Shop.my"sales': 'Customer "id"', calendar: null },
      }),
    })
    const { output, exitCode } = await run({ folder, url: '' }, ['rls', 'print'])
    assert.equal(exitCode, 0)
    assert.deepEqual(
      output.split('\n').filter((line) => !line.startsWith('--')),
      [
        'BEGIN;',
        'CREATE ROLE "the ""readers""" LOGIN NOSUPERUSER NOBYPASSRLS;',
        'GRANT USAGE ON SCHEMA "Shop" TO "the ""readers""";',
        'ALTER TABLE "Shop"."my""sales" ENABLE ROW LEVEL SECURITY;',
        'ALTER TABLE "Shop"."my""sales" FORCE ROW LEVEL SECURITY;',
        'CREATE POLICY ugs_isolation ON "Shop"."my""sales" FOR SELECT TO "the ""readers""" ' +
          `USING ("Customer ""id"""::text = ${own});`,
        'GRANT SELECT ON "Shop"."my""sales" TO "the ""readers""";',
        'GRANT SELECT ON "calendar" TO "the ""readers""";',
        'COMMIT;',
      ],
    )
  })

  it('refuses a condition, another dialect and another action', async (t) => {
    const folder = newFolder(t)
    const refused: readonly [RegExp, object, string][] = [
      [/sales has a condition/, { tables: { sales: 'a = {{ user_group.name }}' } }, 'print'],
      [/"dialect" is duckdb/, { dialect: 'duckdb', tables: { sales: 'customer' } }, 'print'],
      [/rls print or ugs-isolation rls verify/, { tables: {} }, 'apply'],
    ]
    for (const [message, members, action] of refused) {
      writeFiles(folder, { 'isolation.json': JSON.stringify(members) })
      const { exitCode, errors } = await run({ folder, url: '' }, ['rls', action])
      assert.equal(exitCode, 2)
      assert.match(errors, message)
    }
  })
})

async function verify(
  database: RlsDatabase | (TestDatabase & { role: string }),
): Promise<{ exitCode: number; findings: Finding[] }> {
  const { exitCode, output, errors } = await run(database, ['rls', 'verify', '--format', 'json'])
  assert.equal(errors, '')
  const { findings, role } = JSON.parse(output) as { findings: Finding[]; role: string }
  assert.ok(role)
  return { exitCode, findings }
}
