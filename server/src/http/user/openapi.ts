import { limits } from '../../contract/limits.ts'
import { jsonBody, jsonResponse, reference, requestFaults, responses } from '../../contract/openapi.ts'
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
  sessionExample,
  viewerExample,
} from '../../contract/viewer-session/schemas.ts'
import type { FaultCode } from '../../domain/fault.ts'
import { operationPaths } from '../operations.ts'

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

const jsonFaults: readonly FaultCode[] = [...requestFaults, 'malformed_json']

export const exampleGroup = {
  team_id: 1,
  token: tokenExample,
  name: 'Example customer',
  provided_id: 'customer-42',
}
export const properties = { region: 'EU', plan: 'gold' }
export const api_environment_tag = 'Customer'

const exampleBody = {
  user_group_id: 'customer-42',
  name: 'Example customer',
  mapping: { '40': '213' },
  properties,
}

export function userPaths(): Record<string, object> {
  return {
    '/api/user': { get: getOrCreateOperation(), post: rotateOperation(), put: updateOperation() },
    [operationPaths.getOrCreate]: { post: byPost(getOrCreateOperation(), 'GET /api/user') },
    [operationPaths.update]: { post: byPost(updateOperation(), 'PUT /api/user') },
    [operationPaths.createSession]: { post: createSessionOperation() },
    [operationPaths.endSessions]: { post: endSessionsOperation() },
    [operationPaths.rotate]: { post: byPost(rotateOnlyOperation(), 'POST /api/user') },
  }
}

interface DocumentedOperation {
  readonly operationId: string
  readonly description: string
}

/** Returns the operation at its own path. OpenAPI generators ignore the body of a GET. */
function byPost<T extends DocumentedOperation>(operation: T, same: string): T {
  const { operationId, description } = operation
  return {
    ...operation,
    operationId: `${operationId}ByPost`,
    description: `The same operation as \`${same}\`. ${description}`,
  }
}

function getOrCreateOperation() {
  return {
    operationId: 'getOrCreateUserGroup',
    tags: ['User groups'],
    summary: 'Get or create a user group',
    description:
      'Creates the user group or updates it to match the request. Fields that are sent are stored; absent fields keep their values. `name` may be absent only if the user group exists. The token never changes here. If several requests create the same user group at once, exactly one returns `new_user_group: true`, and all return the same token. Requires the scope `read` if nothing changes, otherwise `write`.',
    requestBody: jsonBody(reference('UserGroupBody'), exampleBody),
    responses: responses({
      response: jsonResponse(reference('GetOrCreateResponse'), 'The user group.', {
        success: 1,
        new_user_group: true,
        user_group: { ...exampleGroup, properties },
      }),
      faults: [...jsonFaults, 'name_required'],
    }),
  }
}

const rotationFaults: readonly FaultCode[] = [
  ...jsonFaults,
  'invalid_idempotency_key',
  'token_not_found',
  'token_superseded',
  'idempotency_key_in_use',
  'idempotency_key_reused',
]

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

const currentToken = { current_token: exampleGroup.token }
const rotatedGroup = { success: 1, user_group: { ...exampleGroup, api_environment_tag } }

/** Rotation at its own path, which knows no method override. */
function rotateOnlyOperation() {
  return {
    operationId: 'rotateUserGroupToken',
    tags: ['User groups'],
    summary: 'Rotate the token of a user group',
    description:
      'Replaces the token. The old token stops working at once, unless `grace_period_seconds` keeps it valid for viewing. If several requests rotate the same token at once, exactly one succeeds. Requires the scope `write`.',
    parameters: [idempotencyKey],
    requestBody: jsonBody(reference('RotationBody'), currentToken),
    responses: responses({
      response: jsonResponse(
        reference('RotationResponse'),
        'The user group with its new token.',
        rotatedGroup,
      ),
      faults: rotationFaults,
    }),
  }
}

function rotateOperation(): object {
  return {
    ...rotateOnlyOperation(),
    parameters: [idempotencyKey, methodOverride],
    requestBody: jsonBody(anyOf('RotationBody', 'UserGroupBody'), currentToken),
    responses: responses({
      response: jsonResponse(
        anyOf('RotationResponse', 'GetOrCreateResponse', 'UpdateResponse'),
        'The user group with its new token.',
        rotatedGroup,
      ),
      faults: [...rotationFaults, 'invalid_method_override', 'name_required', 'user_group_not_found'],
    }),
  }
}

function updateOperation() {
  return {
    operationId: 'updateUserGroup',
    tags: ['User groups'],
    summary: 'Update a user group',
    description:
      'Changes an existing user group by the same field rules as GET; creates nothing. Requires the scope `write`.',
    requestBody: jsonBody(reference('UserGroupBody'), exampleBody),
    responses: responses({
      response: jsonResponse(reference('UpdateResponse'), 'The user group.', {
        success: 1,
        new_user_group: false,
        user_group: { ...exampleGroup, properties, api_environment_tag },
      }),
      faults: [...jsonFaults, 'user_group_not_found'],
    }),
  }
}

function createSessionOperation() {
  return {
    operationId: 'createViewerSession',
    tags: ['User groups'],
    summary: 'Create a viewer session',
    description:
      'Returns a short-lived token of one viewer for the page that shows the dashboard. It says who looks; what it shows is read from the user group at each introspection, and a session can only narrow that. Nothing is stored. Requires the scope `read` or `write`.',
    requestBody: jsonBody(reference('CreateSessionBody'), {
      user_group_id: 'customer-42',
      viewer: viewerExample,
      narrow: { properties: { regions: ['EU'] } },
      resources: ['sales-overview'],
      expires_in_seconds: 900,
    }),
    responses: responses({
      response: jsonResponse(reference('CreateSessionResponse'), 'The session.', {
        success: 1,
        session: {
          token: sessionExample,
          session_id: '4kTq9cZ1Xw2b',
          expires_at: '2026-11-28T10:15:00Z',
          expires_in_seconds: 900,
        },
      }),
      faults: [...jsonFaults, 'user_group_not_found'],
    }),
  }
}

function endSessionsOperation() {
  return {
    operationId: 'endViewerSessions',
    tags: ['User groups'],
    summary: 'End viewer sessions',
    description:
      'Ends the sessions of one viewer, or of all viewers of a user group, that were created until now, also in this second. The user group token stays. Requires the scope `write`.',
    requestBody: jsonBody(reference('EndSessionsBody'), { user_group_id: 'customer-42', viewer_id: 'u-7' }),
    responses: responses({
      response: jsonResponse(reference('EndSessionsResponse'), 'The sessions are over.', { success: 1 }),
      faults: [...jsonFaults, 'user_group_not_found'],
    }),
  }
}

/** The method override gives POST the bodies and responses of the other operations too. */
function anyOf(...schemas: string[]): object {
  return { anyOf: schemas.map(reference) }
}
