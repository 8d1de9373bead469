import type {
  WorkspaceStore,
  CreatedWorkspace,
  NewWorkspace,
} from '../../domain/workspace/workspace-store.ts'
import type { Workspace } from '../../domain/workspace/workspace.ts'
import { apiTokenOf, type ApiTokenRow } from '../api-token-row.ts'
import { insertApiToken } from './api-tokens.ts'
import { appendAuditEvent } from './audit-log.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'
import type { Retry } from './retry.ts'

interface WorkspaceRow {
  readonly workspace_id: number
  readonly name: string
  readonly created_at: number
}

export class Workspaces implements WorkspaceStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry

  constructor(primary: PrimaryPool, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
  }

  create(workspace: NewWorkspace): Promise<CreatedWorkspace | null> {
    const { name, createdAt, apiToken } = workspace
    return this.#retry.run(async (attempt) => {
      const created = await attempt.transaction(this.#primary, (query) => insertWorkspace(query, workspace))
      if (created !== null || !attempt.isAmbiguous) return created
      const [taken] = await this.#primary.query<WorkspaceRow>(
        'SELECT * FROM workspace WHERE name = $1 AND created_at = $2',
        [name, createdAt],
      )
      if (taken === undefined) return null
      if (apiToken === undefined) return { workspace: workspaceOf(taken), apiToken: null }
      const [token] = await this.#primary.query<ApiTokenRow>(
        'SELECT * FROM api_token WHERE token_hash = $1',
        [apiToken.tokenHash],
      )
      // Another operation may have created a workspace with the same name at the same time. Its API token differs.
      return token === undefined ? null : { workspace: workspaceOf(taken), apiToken: apiTokenOf(token) }
    })
  }

  async list(): Promise<Workspace[]> {
    const rows = await this.#retry.query<WorkspaceRow>('SELECT * FROM workspace ORDER BY workspace_id')
    return rows.map(workspaceOf)
  }

  /** Reads a row. Fails if the database cannot be read. */
  async probe(): Promise<void> {
    await this.#primary.query('SELECT 1 FROM workspace LIMIT 1')
  }
}

async function insertWorkspace(
  query: Query,
  { name, createdAt, apiToken, ...actor }: NewWorkspace,
): Promise<CreatedWorkspace | null> {
  const [row] = await query<WorkspaceRow>(
    'INSERT INTO workspace (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING *',
    [name, createdAt],
  )
  if (row === undefined) return null
  const workspaceId = row.workspace_id
  await appendAuditEvent(
    query,
    'workspace.created',
    { workspaceId, now: createdAt, ...actor },
    { workspace_id: workspaceId, name },
  )
  return {
    workspace: workspaceOf(row),
    apiToken: apiToken ? await insertApiToken(query, { ...apiToken, ...actor, workspaceId }) : null,
  }
}

function workspaceOf(row: WorkspaceRow): Workspace {
  return { id: row.workspace_id, name: row.name, createdAt: row.created_at }
}
