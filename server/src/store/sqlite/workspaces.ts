import type { Database, Statement } from 'better-sqlite3'
import type { Workspace } from '../../domain/workspace.ts'

interface Row {
  workspace_id: number
  name: string
  created_at: number
}

export class Workspaces {
  readonly #insert: Statement<[string, number], Row>
  readonly #selectAll: Statement<[], Row>
  readonly #selectAny: Statement<[]>

  constructor(database: Database) {
    this.#insert = database.prepare(
      'INSERT INTO workspace (name, created_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING RETURNING *',
    )
    this.#selectAll = database.prepare('SELECT * FROM workspace ORDER BY workspace_id')
    this.#selectAny = database.prepare('SELECT 1 FROM workspace LIMIT 1')
  }

  create(name: string, now: number): Workspace | null {
    const row = this.#insert.get(name, now)
    return row === undefined ? null : workspaceOf(row)
  }

  list(): Workspace[] {
    return this.#selectAll.all().map(workspaceOf)
  }

  /** Reads a row, which fails where the file cannot be read. */
  probe(): void {
    this.#selectAny.get()
  }
}

function workspaceOf(row: Row): Workspace {
  return { id: row.workspace_id, name: row.name, createdAt: row.created_at }
}
