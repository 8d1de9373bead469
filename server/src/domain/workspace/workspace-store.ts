import type { ApiToken } from '../api-token/api-token.ts'
import type { NewApiToken } from '../api-token/api-token-store.ts'
import type { Actor } from '../audit/audit-event.ts'
import type { Environment } from '../environment.ts'
import type { Workspace } from './workspace.ts'

export interface WorkspaceStore {
  /**
   * Creates a workspace, with its first API token if one is given. Returns null if the name is taken; of simultaneous
   * calls with one name, exactly one creates the workspace.
   */
  create(workspace: NewWorkspace): Promise<CreatedWorkspace | null>

  /** Returns all workspaces, in order of id. */
  list(): Promise<Workspace[]>
}

export interface NewWorkspace extends Actor {
  readonly name: string
  readonly createdAt: number
  /** Environment whose audit log records the creation. */
  readonly environment: Environment
  /** First API token of the workspace, created in the same transaction. */
  readonly apiToken?: Omit<NewApiToken, 'workspaceId' | keyof Actor>
}

interface CreatedWorkspace {
  readonly workspace: Workspace
  /** Null unless the command asked for an API token. */
  readonly apiToken: ApiToken | null
}
