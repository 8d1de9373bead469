import { json, object, successful, time } from '../../../contract/json/json-builder.ts'
import type { Workspace } from '../../../domain/workspace/workspace.ts'
import { apiTokenJson } from '../api-tokens/responses.ts'
import type { AdminOperation } from '../operation.ts'
import { listResponse } from '../pages.ts'
import { NewWorkspaceResponse, WorkspaceBody, WorkspaceListResponse } from './schemas.ts'

const tag = 'API tokens and workspaces'

export const workspaceOperations = {
  listWorkspaces: {
    tag,
    method: 'GET',
    path: '/workspaces',
    summary: 'Show the workspace of this API token',
    description: 'An API token sees only its own workspace.',
    response: WorkspaceListResponse,
    handle: async ({ caller }, { apiTokens }) => ({
      json: listResponse('workspaces', await apiTokens.findWorkspaces(caller), workspaceJson),
    }),
  },
  createWorkspace: {
    tag,
    method: 'POST',
    path: '/workspaces',
    summary: 'Create a workspace and its first API token',
    description: 'The API token has the scope `admin` and the environment of the API token that created it.',
    body: WorkspaceBody,
    status: 201,
    response: NewWorkspaceResponse,
    faults: ['already_exists'],
    handle: async ({ caller, body }, { apiTokens }) => {
      const { name } = body.value as WorkspaceBody
      const { workspace, apiToken, token } = await apiTokens.createWorkspace(caller, name)
      return {
        json: successful({
          workspace: workspaceJson(workspace),
          api_token: apiTokenJson(apiToken),
          token: json(token),
        }),
      }
    },
  },
} as const satisfies Record<string, AdminOperation>

function workspaceJson({ id, name, createdAt }: Workspace): string {
  return object({ id: json(id), name: json(name), created_at: time(createdAt) })
}
