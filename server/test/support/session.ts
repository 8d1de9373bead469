import { Client } from 'pg'
import type { Scope } from './scope.ts'

/** A session of the tests' own in a database, which ends with the test. */
export async function openSession(t: Scope, url: string): Promise<Client> {
  const client = new Client(url)
  // The server may end it, with its database for one.
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}
