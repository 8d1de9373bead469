import type { TestContext } from 'node:test'
import type { Client } from 'pg'
import { freshDatabase } from '../../server/test/support/database.ts'
import { freshRole } from '../../server/test/support/role.ts'
import { openSession } from '../../server/test/support/session.ts'
import { newFolder, type TestDatabase } from './databases.ts'
import { run, writeFiles } from './probe-command.ts'

/** A database with the SQL that `ugs-isolation rls print` prints, and its role. The URL is that of the role. */
export interface RlsDatabase extends TestDatabase {
  readonly role: string
  readonly admin: Client
  readonly adminUrl: string
}

export const config = {
  dialect: 'postgresql',
  tables: { 'public.sales': 'customer', orders: 'Customer id', calendar: null },
  user_groups: [
    { provided_id: '42', properties: { region: 'EU' } },
    { provided_id: '43', properties: { region: 'US' } },
  ],
}

const shop = `
  CREATE TABLE sales (customer varchar(40), month integer, amount integer);
  CREATE TABLE orders ("Customer id" integer, quantity integer);
  CREATE TABLE calendar (month integer);
  CREATE TABLE invoices (customer text);
  INSERT INTO sales VALUES ('42', 1, 10), ('42', 2, 20), ('43', 1, 5), ('43', 3, 6), ('', 1, 1), (NULL, 1, 1);
  INSERT INTO orders VALUES (42, 1), (43, 2), (43, 3);
  INSERT INTO calendar VALUES (1), (2), (3);
  INSERT INTO invoices VALUES ('42')`

export async function createRlsDatabase(t: TestContext): Promise<RlsDatabase> {
  const adminUrl = await freshDatabase(t)
  const url = await freshRole(t, adminUrl)
  const role = new URL(url).username
  const admin = await openSession(t, adminUrl)
  const database = { url, role, admin, adminUrl, folder: newFolder(t) }
  writeFiles(database.folder, { 'isolation.json': JSON.stringify({ ...config, role }) })
  const { output } = await run(database, ['rls', 'print'], { DATABASE_URL: '' })
  // The role exists, with a password.
  await admin.query(`${shop}; ${output.replace(/^CREATE ROLE .*$/m, '')}`)
  return database
}
