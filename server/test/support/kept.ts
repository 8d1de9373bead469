import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import type { RunningService } from './service.ts'

/** All bytes that a service keeps: by the file of its data folder, and by the table where it has a database. */
export async function kept({ dataFolder, databaseUrl }: RunningService): Promise<Map<string, Buffer>> {
  const files = readdirSync(dataFolder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map([
    ...files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name))] as const),
    ...(databaseUrl === undefined ? [] : await tables(databaseUrl)),
  ])
}

async function tables(url: string): Promise<[name: string, bytes: Buffer][]> {
  const client = new Client(url)
  await client.connect()
  try {
    const { rows: names } = await client.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname !~ '^pg_|^information_schema$'",
    )
    const tables: [string, Buffer][] = []
    for (const { name } of names) {
      // Writing a row anew changes both, even where the row stays the same.
      const query = `SELECT ctid::text, xmin::text, t.* FROM ${name} t ORDER BY ctid`
      const { rows } = await client.query<unknown[]>({ text: query, rowMode: 'array' })
      tables.push([name, Buffer.concat(rows.flat().map(bytesOf))])
    }
    return tables
  } finally {
    await client.end()
  }
}

function bytesOf(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}
