import { randomUUID } from 'node:crypto'
import { lifo, type Scope } from './scope.ts'
import { openSession } from './session.ts'

/**
 * Creates a role without rights until the test ends, and returns its URL of the same database. Create the test's database
 * first.
 */
export async function freshRole(t: Scope, databaseUrl: string, attributes = 'LOGIN'): Promise<string> {
  const name = `ugs_test_${randomUUID().replaceAll('-', '')}`
  const password = randomUUID()
  const url = new URL(databaseUrl)
  url.pathname = 'postgres'
  const session = await openSession({ after: () => undefined }, url.href)
  await session.query(`CREATE ROLE ${name} ${attributes} PASSWORD '${password}'`)
  t.after(async () => {
    await session.query(`DROP ROLE ${name}`)
    await session.end()
  })
  return Object.assign(new URL(databaseUrl), { username: name, password }).href
}

/**
 * Creates a role that may log in with the password of the URL, and returns its name. Dropped after the test, with what depends on it,
 * such as policies.
 */
export async function freshDependentRole(t: Scope, databaseUrl: string): Promise<string> {
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
