import { randomUUID } from 'node:crypto'
import type { Scope } from './scope.ts'
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
