import { Type, type Static } from 'typebox'
import { object, response } from '../../../contract/schema.ts'
import { text } from '../../../contract/user/schemas.ts'
import { ApiToken } from '../api-tokens/schemas.ts'
import { id, time } from '../fields.ts'

export const Workspace = object({
  id: id('Id of the workspace.'),
  name: Type.String({ examples: ['default'] }),
  created_at: time('Time of creation'),
})

export const WorkspaceListResponse = response({ workspaces: Type.Array(Workspace) })

export const WorkspaceFields = object({
  name: text('1 to 255 characters, unique among workspaces.', 'second-product'),
})
export type WorkspaceFields = Static<typeof WorkspaceFields>

export const NewWorkspaceResponse = response({
  workspace: Workspace,
  api_token: ApiToken,
  token: Type.String({
    description:
      'An API token with the scope `admin` in the new workspace. It is shown only once, so store it.',
    examples: ['uga_customer_…'],
  }),
})
