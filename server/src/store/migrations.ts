import { readdirSync, readFileSync } from 'node:fs'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** The numbered SQL files of a dialect (`migrations/<dialect>/0001-name.sql`), in order, without a gap. */
export function readMigrations(dialect: 'sqlite'): Migration[] {
  const folder = new URL(`../../migrations/${dialect}/`, import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file, index) => {
      const version = Number.parseInt(file, 10)
      if (version !== index + 1) throw new Error(`migration ${file} is out of order`)
      return {
        version,
        name: file.replace(/^\d+-|\.sql$/g, ''),
        sql: readFileSync(new URL(file, folder), 'utf8'),
      }
    })
}
