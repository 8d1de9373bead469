import type { WorkspaceStore } from '../../domain/workspace/workspace-store.ts'
import type { Workspace } from '../../domain/workspace/workspace.ts'
import { find, insertApiToken } from './api-tokens.ts'
import { appendAuditEvent } from './audit-log.ts'
import { transaction, type Operations } from './operation.ts'
import { raw, sql } from './sql.ts'

const columns = raw('workspace_id AS id, name, created_at AS "createdAt"')

export const workspaces: Operations<WorkspaceStore> = {
  *create({ name, createdAt, apiToken, environment, ...actor }) {
    const { isAmbiguous } = yield* transaction()
    const [workspace] = yield* sql<Workspace>`
      INSERT INTO workspace (name, created_at) VALUES (${name}, ${createdAt})
      ON CONFLICT (name) DO NOTHING RETURNING ${columns}`
    if (workspace === undefined) {
      const [taken] = yield* sql<Workspace>`
        SELECT ${columns} FROM workspace WHERE name = ${name} AND created_at = ${createdAt}`
      if (!isAmbiguous || taken === undefined) return null
      if (apiToken === undefined) return { workspace: taken, apiToken: null }
      const token = yield* find(apiToken.tokenHash)
      // Another operation may have created a workspace with the same name at the same time. Its API token differs.
      return token && { workspace: taken, apiToken: token }
    }
    const workspaceId = workspace.id
    const details = { workspace_id: workspaceId, name }
    const change = { workspaceId, environment, now: createdAt, ...actor }
    yield* appendAuditEvent('workspace.created', change, details)
    return {
      workspace,
      apiToken: apiToken ? yield* insertApiToken({ ...apiToken, ...actor, workspaceId }) : null,
    }
  },

  *list() {
    return yield* sql<Workspace>`SELECT ${columns} FROM workspace ORDER BY workspace_id`
  },
}
