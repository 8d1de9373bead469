import type { Workspace } from '../../domain/workspace.ts'
import type { Primary } from './primary.ts'
import type { Retry } from './retry.ts'

interface WorkspaceRow {
  readonly workspace_id: number
  readonly name: string
  readonly created_at: number
}

export class Workspaces {
  readonly #primary: Primary
  readonly #retry: Retry

  constructor(primary: Primary, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
  }

  create(name: string, now: number): Promise<Workspace | null> {
    return this.#retry.run(async (attempt) => {
      const [made] = await attempt.change((sent) =>
        this.#primary.query<WorkspaceRow>(
          'INSERT INTO workspace (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING *',
          [name, now],
          sent,
        ),
      )
      if (made !== undefined) return workspaceOf(made)
      if (!attempt.isInDoubt) return null
      const [taken] = await this.#primary.query<WorkspaceRow>(
        'SELECT * FROM workspace WHERE name = $1 AND created_at = $2',
        [name, now],
      )
      return taken === undefined ? null : workspaceOf(taken)
    })
  }

  list(): Promise<Workspace[]> {
    return this.#retry.run(async () => {
      const rows = await this.#primary.query<WorkspaceRow>('SELECT * FROM workspace ORDER BY workspace_id')
      return rows.map(workspaceOf)
    })
  }

  /** Reads a row, which fails where the database cannot be read. */
  async probe(): Promise<void> {
    await this.#primary.query('SELECT 1 FROM workspace LIMIT 1')
  }
}

function workspaceOf(row: WorkspaceRow): Workspace {
  return { id: row.workspace_id, name: row.name, createdAt: row.created_at }
}
