import { Type, type Static } from 'typebox'
import { response, success, text } from '../../../contract/user/schemas.ts'
import { id, time } from '../fields.ts'

const Workspace = response({
  id: id('Id of the workspace.'),
  name: Type.String({ examples: ['default'] }),
  created_at: time('Time of creation'),
})

export const WorkspaceListResponse = response({ success, workspaces: Type.Array(Workspace) })

export const WorkspaceBody = Type.Object(
  { name: text('Name of the workspace.', 'second-product') },
  { additionalProperties: false },
)
export type WorkspaceBody = Static<typeof WorkspaceBody>

export const NewWorkspaceResponse = response({
  success,
  workspace: Workspace,
  api_token: Type.Ref('#/components/schemas/ApiToken'),
  token: Type.String({
    description: 'An API token with the scope `admin` in the new workspace. Shown only once.',
    examples: ['uga_customer_…'],
  }),
})
