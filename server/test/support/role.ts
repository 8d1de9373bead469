import { randomUUID } from 'node:crypto'
import type { Scope } from './scope.ts'
import { openSession } from './session.ts'

/**
 * A role without rights, until the test has ended; returns the URL of the same database for it. The database must be the
 * test's own too, and asked for before.
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
