import { limits } from '../../contract/limits.ts'
import {
  exampleOf,
  jsonBody,
  jsonResponse,
  reference,
  requestFaults,
  responses,
} from '../../contract/openapi.ts'
import {
  GetOrCreateResponse,
  RotationBody,
  RotationResponse,
  tokenExample,
  UpdateResponse,
  UserGroupBody,
} from '../../contract/user/schemas.ts'
import {
  CreateSessionBody,
  CreateSessionResponse,
  EndSessionsBody,
  EndSessionsResponse,
  viewerExample,
} from '../../contract/viewer-session/schemas.ts'
import type { Scope } from '../../domain/api-token/api-token.ts'
import type { FaultCode } from '../../domain/fault.ts'
import { operationPaths, scopesFor } from '../operations.ts'

export const userSchemas = {
  CreateSessionBody,
  CreateSessionResponse,
  EndSessionsBody,
  EndSessionsResponse,
  UserGroupBody,
  RotationBody,
  GetOrCreateResponse,
  UpdateResponse,
  RotationResponse,
}

type SchemaName = keyof typeof userSchemas

/** An operation of `/api/user`. Its examples are those of its schemas. */
interface DocumentedOperation {
  readonly operationId: string
  readonly 'x-scopes': readonly Scope[]
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly object[]
  /** Any of these schemas. */
  readonly body: readonly [SchemaName, ...SchemaName[]]
  /** Default is that of the first schema. */
  readonly bodyExample?: object
  /** Any of these schemas. */
  readonly response: readonly [SchemaName, ...SchemaName[]]
  /** Description of the response. */
  readonly returns: string
  /** Error codes in addition to those of every operation. */
  readonly faults: readonly FaultCode[]
}

const getOrCreate: DocumentedOperation = {
  operationId: 'getOrCreateUserGroup',
  'x-scopes': scopesFor('getOrCreate'),
  summary: 'Get or create a user group',
  description:
    'Creates the user group or updates it to match the request. Fields that are sent are stored; absent fields keep their values. `name` may be absent only if the user group exists. The token never changes here. If several requests create the same user group at once, exactly one returns `new_user_group: true`, and all return the same token. Requires the scope `read` if nothing changes, otherwise `write`.',
  body: ['UserGroupBody'],
  response: ['GetOrCreateResponse'],
  returns: 'The user group.',
  faults: ['name_required'],
}

const update: DocumentedOperation = {
  operationId: 'updateUserGroup',
  'x-scopes': scopesFor('update'),
  summary: 'Update a user group',
  description:
    'Changes an existing user group by the same field rules as GET; creates nothing. Requires the scope `write`.',
  body: ['UserGroupBody'],
  response: ['UpdateResponse'],
  returns: 'The user group.',
  faults: ['user_group_not_found'],
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A retry with the same key and body within 24 hours gets the first response again and rotates nothing. Keys are scoped to the user group whose token is sent.',
  schema: { type: 'string', pattern: '^[!-~]+$', maxLength: limits.idempotencyKeyLength },
  example: '5f1d7a52-6a0e-4a63-9a57-0a6a3d1f8c11',
}

const methodOverride = {
  name: 'X-HTTP-Method-Override',
  in: 'header',
  description:
    'Makes this request a get-or-create (`GET`) or an update (`PUT`), with the body and the response of that operation.',
  schema: { type: 'string', enum: ['GET', 'PUT'] },
}

const rotate: DocumentedOperation = {
  operationId: 'rotateUserGroupToken',
  'x-scopes': scopesFor('rotate'),
  summary: 'Rotate the token of a user group',
  description:
    'Replaces the token. The old token stops working at once, unless `grace_period_seconds` keeps it valid for viewing. If several requests rotate the same token at once, exactly one succeeds. Requires the scope `write`.',
  parameters: [idempotencyKey],
  body: ['RotationBody'],
  bodyExample: { current_token: tokenExample },
  response: ['RotationResponse'],
  returns: 'The user group with its new token.',
  faults: [
    'invalid_idempotency_key',
    'token_not_found',
    'token_superseded',
    'idempotency_key_in_use',
    'idempotency_key_reused',
  ],
}

/** The method override gives POST the bodies and responses of the other operations too. */
const post: DocumentedOperation = {
  ...rotate,
  parameters: [idempotencyKey, methodOverride],
  body: ['RotationBody', 'UserGroupBody'],
  response: ['RotationResponse', 'GetOrCreateResponse', 'UpdateResponse'],
  faults: [...rotate.faults, 'invalid_method_override', 'name_required', 'user_group_not_found'],
}

const createSession: DocumentedOperation = {
  operationId: 'createViewerSession',
  'x-scopes': scopesFor('createSession'),
  summary: 'Create a viewer session',
  description:
    'Returns a short-lived token of one viewer for the page that shows the dashboard. It says who looks; what it shows is read from the user group at each introspection, and a session can only narrow that. Nothing is stored. Requires the scope `read` or `write`.',
  body: ['CreateSessionBody'],
  bodyExample: {
    user_group_id: 'customer-42',
    viewer: viewerExample,
    narrow: { properties: { regions: ['EU'] } },
    resources: ['sales-overview'],
    expires_in_seconds: 900,
  },
  response: ['CreateSessionResponse'],
  returns: 'The session.',
  faults: ['user_group_not_found'],
}

const endSessions: DocumentedOperation = {
  operationId: 'endViewerSessions',
  'x-scopes': scopesFor('endSessions'),
  summary: 'End viewer sessions',
  description:
    'Ends the sessions of one viewer, or of all viewers of a user group, that were created until now, also in this second. The user group token stays. Requires the scope `write`.',
  body: ['EndSessionsBody'],
  response: ['EndSessionsResponse'],
  returns: 'The sessions are over.',
  faults: ['user_group_not_found'],
}

export function userPaths(): Record<string, object> {
  return {
    '/api/user': {
      get: operationObject(getOrCreate),
      post: operationObject(post),
      put: operationObject(update),
    },
    [operationPaths.getOrCreate]: { post: byPost(getOrCreate, 'GET /api/user') },
    [operationPaths.update]: { post: byPost(update, 'PUT /api/user') },
    [operationPaths.createSession]: { post: operationObject(createSession) },
    [operationPaths.endSessions]: { post: operationObject(endSessions) },
    [operationPaths.rotate]: { post: byPost(rotate, 'POST /api/user') },
  }
}

function operationObject({
  body,
  bodyExample,
  response,
  returns,
  faults,
  ...described
}: DocumentedOperation) {
  return {
    ...described,
    tags: ['User groups'],
    requestBody: jsonBody(anyOf(body), bodyExample ?? exampleOf(userSchemas[body[0]])),
    responses: responses({
      response: jsonResponse(anyOf(response), returns, exampleOf(userSchemas[response[0]])),
      faults: [...requestFaults, 'malformed_json', ...faults],
    }),
  }
}

/** Returns the operation at its own path. OpenAPI generators ignore the body of a GET. */
function byPost(operation: DocumentedOperation, same: string): object {
  return operationObject({
    ...operation,
    operationId: `${operation.operationId}ByPost`,
    description: `The same operation as \`${same}\`. ${operation.description}`,
  })
}

function anyOf(schemas: readonly SchemaName[]): object {
  const [first, ...others] = schemas.map(reference)
  return others.length === 0 ? (first as object) : { anyOf: [first, ...others] }
}
