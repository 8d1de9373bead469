import Sqlite from 'better-sqlite3'
import { Client } from 'pg'

const statement = 'SELECT key FROM locator_key'

/**
 * Reads the key of a store's locators.
 * @param {string | import('pg').Client} store SQLite file, URL of a PostgreSQL database or a client
 * @returns {Promise<Buffer>}
 */
export async function readLocatorKey(store) {
  if (typeof store !== 'string') {
    /** @type {{ rows: { key: Buffer }[] }} */
    const { rows } = await store.query(statement)
    return rows[0]?.key ?? Buffer.alloc(0)
  }
  if (store.startsWith('postgres')) {
    const client = new Client(store)
    await client.connect()
    try {
      return await readLocatorKey(client)
    } finally {
      await client.end()
    }
  }
  const database = new Sqlite(store, { readonly: true })
  try {
    return /** @type {Buffer} */ (database.prepare(statement).pluck().get())
  } finally {
    database.close()
  }
}
