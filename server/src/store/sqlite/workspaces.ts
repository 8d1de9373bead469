import type { Database, Statement } from 'better-sqlite3'
import type { CreatedWorkspace, NewWorkspace } from '../../domain/workspace/workspace-store.ts'
import type { Workspace } from '../../domain/workspace/workspace.ts'
import type { ApiTokens } from './api-tokens.ts'
import type { AuditLog } from './audit-log.ts'

interface Row {
  workspace_id: number
  name: string
  created_at: number
}

export class Workspaces {
  readonly #apiTokens: ApiTokens
  readonly #audit: AuditLog
  readonly #insert: Statement<[string, number], Row>
  readonly #selectAll: Statement<[], Row>
  readonly #selectAny: Statement<[]>

  constructor(database: Database, apiTokens: ApiTokens, audit: AuditLog) {
    this.#apiTokens = apiTokens
    this.#audit = audit
    this.#insert = database.prepare(
      'INSERT INTO workspace (name, created_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING RETURNING *',
    )
    this.#selectAll = database.prepare('SELECT * FROM workspace ORDER BY workspace_id')
    this.#selectAny = database.prepare('SELECT 1 FROM workspace LIMIT 1')
  }

  create({ name, createdAt, apiToken, ...actor }: NewWorkspace): CreatedWorkspace | null {
    const row = this.#insert.get(name, createdAt)
    if (row === undefined) return null
    const workspaceId = row.workspace_id
    this.#audit.append(
      'workspace.created',
      { workspaceId, now: createdAt, ...actor },
      { details: { workspace_id: workspaceId, name } },
    )
    return {
      workspace: workspaceOf(row),
      apiToken: apiToken ? this.#apiTokens.create({ ...apiToken, ...actor, workspaceId }) : null,
    }
  }

  list(): Workspace[] {
    return this.#selectAll.all().map(workspaceOf)
  }

  /** Reads a row. Fails if the file cannot be read. */
  probe(): void {
    this.#selectAny.get()
  }
}

function workspaceOf(row: Row): Workspace {
  return { id: row.workspace_id, name: row.name, createdAt: row.created_at }
}
