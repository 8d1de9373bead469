import { OAuthErrorResponse } from '../../contract/errors.ts'
import { exampleOf, jsonResponse, reference, requestFaults, responses } from '../../contract/openapi.ts'
import { IntrospectionBody, IntrospectionResponse, tokenExample } from '../../contract/user/schemas.ts'
import { oauthPaths, scopesFor } from '../operations.ts'
import { metadataOf } from './metadata-route.ts'

export const oauthSchemas = { IntrospectionBody, IntrospectionResponse, OAuthErrorResponse }

export function oauthPathItems(): Record<string, object> {
  return {
    [oauthPaths.introspect]: { post: introspectOperation() },
    [oauthPaths.revoke]: { post: revokeOperation() },
    [oauthPaths.metadata]: { get: metadataOperation() },
    [oauthPaths.keySet]: { get: keySetOperation() },
  }
}

/** The last one stands for `client_secret` in the form. */
const security = [{ apiToken: [] }, { bearer: [] }, { basic: [] }, {}]

const requestBody = {
  required: true,
  content: {
    'application/x-www-form-urlencoded': {
      schema: reference('IntrospectionBody'),
      example: { token: tokenExample },
    },
  },
}

function introspectOperation(): object {
  return {
    operationId: 'introspectUserGroupToken',
    'x-scopes': scopesFor('introspect'),
    tags: ['Renderer'],
    summary: 'Look up the user group, data sources, properties and viewer behind a token',
    description:
      'Token introspection (RFC 7662) of user group tokens and viewer sessions. A token that is unknown, superseded, expired, malformed, of a suspended or deleted user group, or of another workspace or environment gets `{"active":false}` and nothing else. Each response is confirmed with the store: a rotated token is inactive in the very next request. Requires the scope `introspect`.',
    security,
    requestBody,
    responses: responses({
      response: jsonResponse(
        reference('IntrospectionResponse'),
        'The user group of the token, if the token is active.',
        // A current token does not expire.
        { ...(exampleOf(IntrospectionResponse) as object), exp: undefined },
        { 'X-Event-Position': { $ref: '#/components/headers/EventPosition' } },
      ),
      faults: requestFaults,
      isOAuth: true,
    }),
  }
}

function revokeOperation(): object {
  return {
    operationId: 'revokeUserGroupToken',
    'x-scopes': scopesFor('revoke'),
    tags: ['Renderer'],
    summary: 'End a user group token or a viewer session',
    description:
      'Token revocation (RFC 7009). A viewer session ends. A current token is replaced by a new one that nobody has yet; the next `GET /api/user` shows it. The grace period of a superseded token ends. For any other token the response is the same and nothing changes. Requires the scope `write`.',
    security,
    requestBody,
    responses: responses({
      response: jsonResponse({ type: 'object' }, 'The token is no longer active.', {}),
      faults: requestFaults,
      isOAuth: true,
    }),
  }
}

function keySetOperation(): object {
  return {
    operationId: 'getKeySet',
    tags: ['Renderer'],
    summary: 'Public keys of viewer sessions',
    description:
      'For engines that verify viewer sessions themselves (RFC 7517). A new key is here 10 minutes before it signs, and an old one until its last session has expired.',
    security: [],
    parameters: [
      {
        name: 'workspace_id',
        in: 'path',
        required: true,
        description: 'The id of the workspace.',
        schema: { type: 'integer', minimum: 1 },
        example: 1,
      },
      {
        name: 'environment',
        in: 'path',
        required: true,
        description: 'The environment, in lower case.',
        schema: { type: 'string', enum: ['customer', 'testing'] },
        example: 'customer',
      },
    ],
    responses: responses({
      response: jsonResponse(
        { type: 'object', properties: { keys: { type: 'array', items: { type: 'object' } } } },
        'The public keys.',
        { keys: [] },
      ),
      faults: ['malformed_request', 'not_found', 'method_not_allowed', 'internal', 'unavailable'],
    }),
  }
}

function metadataOperation(): object {
  return {
    operationId: 'getAuthorizationServerMetadata',
    tags: ['Renderer'],
    summary: 'Metadata of the OAuth endpoints',
    description:
      'Authorization server metadata (RFC 8414). The issuer is `UGS_PUBLIC_URL`, by default the origin of the request.',
    security: [],
    responses: responses({
      response: jsonResponse(
        { type: 'object' },
        'The metadata.',
        metadataOf('https://user-groups.example.com'),
      ),
      faults: ['malformed_request', 'method_not_allowed', 'internal'],
    }),
  }
}
