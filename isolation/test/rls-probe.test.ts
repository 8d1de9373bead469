import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshRole } from '../../server/test/support/role.ts'
import { run, writeFiles, type PrintedVerdict } from './probe-command.ts'
import { config, createRlsDatabase, type RlsDatabase } from './rls-database.ts'

const own = 'customer = {{ user_group.provided_id }}'

/** Templates that no shadow can cover, by the judgement of row-level security. */
const templates = {
  ok: {
    schema: `SELECT month, amount FROM public.sales WHERE ${own} ORDER BY month`,
    view: `SELECT sum(amount) FROM sales_view WHERE ${own}`,
    function: `SELECT * FROM sales_of({{ number user_group.provided_id }})`,
    expression: `WITH sales AS (SELECT * FROM public.sales WHERE ${own}) SELECT count(*) FROM sales`,
    shared: 'SELECT count(*) FROM public.calendar',
    setting: `SELECT amount FROM public.sales WHERE customer = current_setting('ugs.user_group_id')`,
  },
  leak: {
    schema: 'SELECT sum(amount) FROM public.sales',
    view: 'SELECT count(*) FROM sales_view',
    function: 'SELECT total_sales()',
    distinct: 'SELECT count(DISTINCT amount) FROM public.sales',
    limit: 'SELECT month FROM public.sales ORDER BY amount DESC LIMIT 1',
    share: `SELECT month, amount::float / (SELECT sum(amount) FROM public.sales) FROM public.sales WHERE ${own}`,
  },
  not_judged: {
    set_config: `SELECT set_config('ugs.user_group_id', '43', true), amount FROM public.sales WHERE ${own}`,
    execute: 'SELECT dynamic()',
    definition: 'SELECT count(*) FROM invoices_view',
    subquery: `SELECT month FROM (SELECT * FROM public.sales LIMIT 1) AS s WHERE ${own}`,
    order: `SELECT string_agg(month::text, ',') FROM public.sales`,
    role: `SELECT current_user, month FROM public.sales WHERE ${own}`,
    statistics: `SELECT most_common_vals::text FROM pg_catalog.pg_stats`,
    random: `SELECT random(), month FROM public.sales WHERE ${own}`,
  },
}

describe('probe --rls-role', () => {
  it('judges names with a schema, views and functions', async (t) => {
    const database = await createRlsDatabase(t)
    await database.admin.query(`
      CREATE VIEW sales_view WITH (security_invoker = true) AS SELECT * FROM sales;
      CREATE VIEW invoices_view WITH (security_invoker = true) AS SELECT * FROM invoices;
      CREATE FUNCTION total_sales() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
        BEGIN RETURN (SELECT sum(amount) FROM sales); END $$;
      CREATE FUNCTION sales_of(id numeric) RETURNS SETOF sales LANGUAGE plpgsql STABLE AS $$
        BEGIN RETURN QUERY SELECT * FROM sales WHERE customer = id::text; END $$;
      CREATE FUNCTION dynamic() RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM sales' INTO n; RETURN n; END $$;
      GRANT SELECT ON sales_view, invoices_view TO ${database.role}`)
    const all = Object.entries(templates).flatMap(([judgement, group]) =>
      Object.entries(group).map(([name, sql]) => [`sql/${judgement}-${name}.sql`, sql] as const),
    )
    writeFiles(database.folder, Object.fromEntries(all))
    const url = await freshRole(t, database.adminUrl, 'LOGIN BYPASSRLS')
    await database.admin.query(`GRANT ${database.role} TO ${new URL(url).username}`)
    const { output, errors } = await probe({ ...database, url })
    assert.equal(errors, '')
    const { templates: verdicts } = JSON.parse(output) as { templates: PrintedVerdict[] }
    assert.equal(verdicts.length, all.length)
    for (const { path, judgement, reason } of verdicts)
      assert.equal(judgement, /sql\/(\w+)-/.exec(path)?.[1], `${path}: ${reason}`)
  })

  it('refuses a role that sees other customers, or that it may not become', async (t) => {
    const database = await createRlsDatabase(t)
    writeFiles(database.folder, { 'sql/a.sql': 'SELECT count(*) FROM public.sales' })
    const url = await freshRole(t, database.adminUrl)
    const stranger = await probe({ ...database, url })
    assert.match(stranger.errors, /--rls-role \w+: the role of DATABASE_URL may not become it/)
    assert.equal(stranger.exitCode, 2)
    await database.admin.query('ALTER TABLE sales NO FORCE ROW LEVEL SECURITY')
    const { exitCode, errors } = await probe({ ...database, url })
    assert.equal(exitCode, 2)
    assert.match(
      errors,
      /public\.sales has row-level security that does not apply to its owner: see ugs-isolation rls verify/,
    )
  })
})

async function probe(database: RlsDatabase) {
  const { role } = database
  const members = { ...config, role, templates: 'sql/*.sql' }
  writeFiles(database.folder, { 'isolation.json': JSON.stringify(members) })
  return run(database, ['probe', '--format', 'json', '--rls-role', role])
}
