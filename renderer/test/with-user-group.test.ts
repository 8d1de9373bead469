import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Pool } from 'pg'
import { freshDatabase } from '../../server/test/support/database.ts'
import { pgbouncer, startPgBouncer } from '../../server/test/support/pgbouncer.ts'
import { freshRole } from '../../server/test/support/role.ts'
import { openSession } from '../../server/test/support/session.ts'
import { findTool } from '../../server/test/support/tool.ts'
import { withUserGroup } from '../src/index.ts'

const customer42 = { providedId: 'customer-42' }
const customer43 = { providedId: 'customer-43', viewer: { id: 'u-7' } }
const read = 'SELECT customer FROM sales'

describe('withUserGroup', () => {
  it('shows the rows of the user group, and none afterwards', async (t) => {
    const { url } = await protectedDatabase(t)
    const client = await openSession(t, url)
    const { rows } = await withUserGroup(client, customer42, (same) => same.query(read))
    assert.deepEqual(rows, [{ customer: 'customer-42' }])
    assert.deepEqual((await client.query(read)).rows, [])
  })

  it('sets the viewer, which is empty for a user group token', async (t) => {
    const { url } = await protectedDatabase(t)
    const client = await openSession(t, url)
    const viewer = async (userGroup: typeof customer42): Promise<unknown> => {
      const query = "SELECT current_setting('ugs.viewer_id')"
      return (
        await withUserGroup(client, userGroup, (same) => same.query<{ current_setting: string }>(query))
      ).rows
    }
    assert.deepEqual(await viewer(customer43), [{ current_setting: 'u-7' }])
    assert.deepEqual(await viewer(customer42), [{ current_setting: '' }])
  })

  it('rolls back after an error, throws it, and leaves the connection usable', async (t) => {
    const { url } = await protectedDatabase(t)
    const client = await openSession(t, url)
    const failure = new Error('The dashboard failed')
    await assert.rejects(
      withUserGroup(client, customer42, () => Promise.reject(failure)),
      (error) => error === failure,
    )
    await assert.rejects(
      withUserGroup(client, customer42, () => client.query('SELECT nothing')),
      { code: '42703' },
    )
    assert.deepEqual((await client.query(read)).rows, [])
    assert.equal((await withUserGroup(client, customer43, () => client.query(read))).rowCount, 1)
  })

  it('refuses changes', async (t) => {
    const url = await freshDatabase(t)
    const client = await openSession(t, url)
    const change = withUserGroup(client, customer42, () => client.query('CREATE TABLE sales ()'))
    await assert.rejects(change, { code: '25006' })
  })

  it('refuses a pool, a connection in use, and an inactive token', async (t) => {
    const { url } = await protectedDatabase(t)
    const client = await openSession(t, url)
    const first = withUserGroup(client, customer42, () => client.query(read))
    await assert.rejects(
      withUserGroup(client, customer43, () => client.query(read)),
      /in use/,
    )
    assert.deepEqual((await first).rows, [{ customer: 'customer-42' }])
    const pool = new Pool()
    await assert.rejects(
      // @ts-expect-error A pool has no transactions.
      withUserGroup(pool, customer42, () => Promise.resolve()),
      /not a pool/,
    )
    await assert.rejects(
      // @ts-expect-error The token is inactive.
      withUserGroup(client, null, () => Promise.resolve()),
      /inactive/,
    )
    const empty = { providedId: '' }
    await assert.rejects(
      withUserGroup(client, empty, () => Promise.resolve()),
      /must have providedId/,
    )
  })

  it('keeps 50 interleaved transactions of two customers apart behind PgBouncer', async (t) => {
    const command = findTool(t, pgbouncer)
    if (command === undefined) return
    const { database, url: direct } = await protectedDatabase(t)
    const url = (await startPgBouncer(t, command, 2, {}, direct))(database)
    const clients = await Promise.all(Array.from({ length: 10 }, () => openSession(t, url)))
    const backends = new Set<number>()
    await Promise.all(
      clients.map(async (client, c) => {
        for (let i = 0; i < 5; i++) {
          const userGroup = (c + i) % 2 === 0 ? customer42 : customer43
          const rows = await withUserGroup(client, userGroup, async () => {
            const { rows: pids } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
            for (const { pid } of pids) backends.add(pid)
            return (await client.query(read)).rows as unknown[]
          })
          assert.deepEqual(rows, [{ customer: userGroup.providedId }])
          assert.deepEqual((await client.query(read)).rows, [])
        }
      }),
    )
    // The transactions of ten clients shared the connections.
    assert.ok(backends.size <= 2)
  })
})

/** Creates a table with a row of each customer, and a role that reads it under row-level security. */
async function protectedDatabase(t: TestContext): Promise<{ database: string; url: string }> {
  const database = await freshDatabase(t)
  const url = await freshRole(t, database)
  const role = new URL(url).username
  const session = await openSession(t, database)
  await session.query(`
    CREATE TABLE sales (customer text);
    INSERT INTO sales VALUES ('customer-42'), ('customer-43'), ('');
    ALTER TABLE sales ENABLE ROW LEVEL SECURITY;
    CREATE POLICY ugs_isolation ON sales FOR SELECT TO ${role}
      USING (customer = nullif(current_setting('ugs.user_group_id', true), ''));
    GRANT SELECT ON sales TO ${role}`)
  return { database, url }
}
