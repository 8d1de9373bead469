import { randomUUID } from 'node:crypto'
import { lifo, type Scope } from './scope.ts'
import { openSession } from './session.ts'

/** Creates a PostgreSQL role that may log in, with the password of the URL. It is dropped after the test, with what it owns. */
export async function freshRole(t: Scope, databaseUrl: string): Promise<string> {
  const name = `ugs_role_${randomUUID().replaceAll('-', '')}`
  const session = await openSession(t, databaseUrl)
  const password = decodeURIComponent(new URL(databaseUrl).password).replaceAll("'", "''")
  await session.query(`CREATE ROLE ${name} LOGIN${password && ` PASSWORD '${password}'`}`)
  lifo(t).after(async () => {
    await session.query(`DROP OWNED BY ${name} CASCADE`)
    await session.query(`DROP ROLE ${name}`)
  })
  return name
}

/** Returns the URL by which a role connects to a database. */
export function urlOfRole(databaseUrl: string, role: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  return url.href
}
