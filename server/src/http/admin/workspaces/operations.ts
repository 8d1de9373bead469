import { shownApiToken } from '../api-tokens/responses.ts'
import { type Operations, tagged } from '../operation.ts'
import { NewWorkspaceResponse, WorkspaceFields, WorkspaceListResponse } from './schemas.ts'

export const workspaceOperations = tagged('API tokens and workspaces', {
  listWorkspaces: {
    method: 'GET',
    path: '/workspaces',
    scope: 'observe',
    summary: 'Show the workspace of this API token',
    description: 'An API token sees only its own workspace.',
    response: WorkspaceListResponse,
    handle: async ({ caller }, { apiTokens }) => ({
      body: { workspaces: await apiTokens.findWorkspaces(caller) },
    }),
  },
  createWorkspace: {
    method: 'POST',
    path: '/workspaces',
    scope: 'admin',
    summary: 'Create a workspace and its first API token',
    description:
      'The API token has the scope `admin` and the environment of the API token that created it, and is shown only once. If it is lost, `ugs api-token create` creates another one.',
    retry: { already_exists: 'unknown' },
    body: WorkspaceFields,
    status: 201,
    response: NewWorkspaceResponse,
    faults: ['already_exists'],
    handle: async ({ caller, body }, { apiTokens }) => {
      const { name } = body.value as WorkspaceFields
      const { workspace, apiToken, token } = await apiTokens.createWorkspace(caller, name)
      return { body: { workspace, apiToken: shownApiToken(apiToken), token } }
    },
  },
} as const satisfies Operations)
