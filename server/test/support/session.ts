import { Client } from 'pg'
import { lifo, type Scope } from './scope.ts'

/** Opens a session in a database. It ends with the test. */
export async function openSession(t: Scope, url: string): Promise<Client> {
  const client = new Client(url)
  // The server may end the session, for example when its database is dropped.
  client.on('error', () => undefined)
  await client.connect()
  lifo(t).after(() => client.end())
  return client
}
