import type { WorkspaceStore } from '../../domain/workspace/workspace-store.ts'
import type { Workspace } from '../../domain/workspace/workspace.ts'
import { find, insertApiToken } from './api-tokens.ts'
import { appendAuditEvent } from './audit-log.ts'
import { transaction, type Operations } from './operation.ts'
import { sql } from './sql.ts'

interface WorkspaceRow {
  readonly workspace_id: number
  readonly name: string
  readonly created_at: number
}

export const workspaces: Operations<WorkspaceStore> = {
  *create({ name, createdAt, apiToken, environment, ...actor }) {
    const { isAmbiguous } = yield* transaction()
    const [row] = yield* sql<WorkspaceRow>`
      INSERT INTO workspace (name, created_at) VALUES (${name}, ${createdAt})
      ON CONFLICT (name) DO NOTHING RETURNING *`
    if (row === undefined) {
      const [taken] =
        yield* sql<WorkspaceRow>`SELECT * FROM workspace WHERE name = ${name} AND created_at = ${createdAt}`
      if (!isAmbiguous || taken === undefined) return null
      if (apiToken === undefined) return { workspace: workspaceOf(taken), apiToken: null }
      const token = yield* find(apiToken.tokenHash)
      // Another operation may have created a workspace with the same name at the same time. Its API token differs.
      return token && { workspace: workspaceOf(taken), apiToken: token }
    }
    const workspaceId = row.workspace_id
    const details = { workspace_id: workspaceId, name }
    const change = { workspaceId, environment, now: createdAt, ...actor }
    yield* appendAuditEvent('workspace.created', change, details)
    return {
      workspace: workspaceOf(row),
      apiToken: apiToken ? yield* insertApiToken({ ...apiToken, ...actor, workspaceId }) : null,
    }
  },

  *list() {
    return (yield* sql<WorkspaceRow>`SELECT * FROM workspace ORDER BY workspace_id`).map(workspaceOf)
  },
}

function workspaceOf(row: WorkspaceRow): Workspace {
  return { id: row.workspace_id, name: row.name, createdAt: row.created_at }
}
