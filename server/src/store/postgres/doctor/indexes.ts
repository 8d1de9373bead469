import { error, type Finding } from '../../doctor.ts'
import { readMigrations } from '../../migrations.ts'
import type { Query } from '../primary-pool.ts'

/** An index of a store, and the statement that creates it. */
interface Index {
  readonly name: string
  readonly creation: string
}

export async function findMissingIndexes(query: Query): Promise<Finding[]> {
  const indexes = readMigrations('postgres').flatMap(({ sql }) => [...indexesIn(sql), ...keysIn(sql)])
  const missing = await query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [indexes.map(({ name }) => name)],
  )
  const names = new Set(missing.map(({ name }) => name))
  return indexes
    .filter(({ name }) => names.has(name))
    .map(({ name, creation }) =>
      error(
        `The index ${name} is missing.`,
        `Run as the owner of the tables: \`${creation}\`. It fails if two rows have the same key.`,
      ),
    )
}

function indexesIn(migration: string): Index[] {
  const statements = migration.matchAll(/^CREATE (UNIQUE )?INDEX (\w+) (ON [^;]+);/gm)
  return [...statements].map(([, unique = '', name = '', definition = '']) => ({
    name,
    creation: `CREATE ${unique}INDEX CONCURRENTLY ${name} ${definition.replaceAll(/\s+/g, ' ')}`,
  }))
}

/** Returns the indexes of primary keys and unique columns, with the names that PostgreSQL gives them. */
function keysIn(migration: string): Index[] {
  const tables = migration.matchAll(/^CREATE TABLE (\w+) \((.*?)^\)/gms)
  return [...tables].flatMap(([, table = '', body = '']) =>
    [...body.matchAll(/^ *(?:(\w+) )?.*?\b(PRIMARY KEY|UNIQUE)(?: \((.*?)\))?/gm)].map(
      ([, column = '', kind = '', columns = column]) => {
        const name = kind === 'UNIQUE' ? `${table}_${columns.replaceAll(', ', '_')}_key` : `${table}_pkey`
        return { name, creation: `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${kind} (${columns})` }
      },
    ),
  )
}
