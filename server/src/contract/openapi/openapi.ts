import type { FaultCode } from '../../domain/fault.ts'
import * as adminSchemas from '../admin/admin-schemas.ts'
import { adminPaths, adminTags } from './openapi-admin.ts'
import { requestFaults, jsonResponse, jsonBody, reference, responses } from './openapi-parts.ts'
import { ErrorResponse } from '../errors.ts'
import { limits } from '../limits.ts'
import {
  GetOrCreateResponse,
  IntrospectionResponse,
  IntrospectionBody,
  RotationResponse,
  RotationBody,
  tokenExample,
  UpdateResponse,
  UserGroupBody,
} from '../user/schemas.ts'

/** And of those, the calls of `/api/user`. */
const commonFaults: readonly FaultCode[] = [...requestFaults, 'malformed_json']

const exampleGroup = {
  team_id: 1,
  token: tokenExample,
  name: 'Example customer',
  provided_id: 'customer-42',
}
const exampleProperties = { region: 'EU', plan: 'gold' }

const exampleUserGroupBody = {
  user_group_id: 'customer-42',
  name: 'Example customer',
  mapping: { '40': '213' },
  properties: exampleProperties,
}

/** The OpenAPI 3.1 document of the service, made of the schemas that validate its input. */
export function openApiDocument(version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'User Group Service',
      version,
      summary: 'A token for each user group to view its embedded dashboards with.',
      description:
        'For your backend one path, `/api/user`, with three operations; for the dashboard renderer, `/oauth2/introspect`; for the people who look after user groups, `/admin/v1`. GET carries a JSON body; where a proxy, CDN or client cannot send one, use POST with the header `X-HTTP-Method-Override: GET`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document' }],
    security: [{ apiToken: [] }],
    tags: [
      { name: 'User groups', description: 'Get or create, update, and rotate the token of a user group.' },
      { name: 'Renderer', description: 'Whose token a dashboard was opened with.' },
      ...adminTags,
      { name: 'Operation', description: 'For supervisors and load balancers.' },
    ],
    paths: {
      '/api/user': {
        get: {
          operationId: 'getOrCreateUserGroup',
          tags: ['User groups'],
          summary: 'Get or create a user group',
          description:
            'Makes the user group be as described, creating it if needed. A field that is sent is stored, one that is left out stays as it is; `name` may be left out only where the user group exists. The token never changes here. Of any number of simultaneous first calls exactly one answers `new_user_group: true`, and all answer the same token. Scope: `read` where nothing changes, else `write`.',
          requestBody: jsonBody(reference('UserGroupBody'), exampleUserGroupBody),
          responses: responses({
            response: jsonResponse(reference('GetOrCreateResponse'), 'The user group.', {
              success: 1,
              new_user_group: true,
              user_group: { ...exampleGroup, properties: exampleProperties },
            }),
            faults: [...commonFaults, 'name_required'],
          }),
        },
        post: {
          operationId: 'rotateUserGroupToken',
          tags: ['User groups'],
          summary: 'Rotate the token of a user group',
          description:
            'Replaces the token. The old one stops at once, unless `grace_period_seconds` keeps it valid for viewing. Of simultaneous rotations of one token exactly one succeeds. Scope: `write`.',
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              description:
                'A retry with the same key and body within 24 hours gets the first answer again, and rotates nothing.',
              schema: { type: 'string', pattern: '^[!-~]+$', maxLength: limits.idempotencyKeyLength },
              example: '5f1d7a52-6a0e-4a63-9a57-0a6a3d1f8c11',
            },
            {
              name: 'X-HTTP-Method-Override',
              in: 'header',
              description:
                'Makes this call a get-or-create (`GET`) or an update (`PUT`), with the body and the answer of that operation.',
              schema: { type: 'string', enum: ['GET', 'PUT'] },
            },
          ],
          requestBody: jsonBody(anyOf('RotationBody', 'UserGroupBody'), {
            current_token: exampleGroup.token,
          }),
          responses: responses({
            response: jsonResponse(
              anyOf('RotationResponse', 'GetOrCreateResponse', 'UpdateResponse'),
              'The user group with its new token.',
              {
                success: 1,
                user_group: { ...exampleGroup, api_environment_tag: 'Customer' },
              },
            ),
            faults: [
              ...commonFaults,
              'invalid_method_override',
              'invalid_idempotency_key',
              'token_not_found',
              'token_superseded',
              'name_required',
              'user_group_not_found',
              'idempotency_key_in_use',
              'idempotency_key_reused',
            ],
          }),
        },
        put: {
          operationId: 'updateUserGroup',
          tags: ['User groups'],
          summary: 'Update a user group',
          description:
            'Changes an existing user group, by the same field rule as GET; creates nothing. Scope: `write`.',
          requestBody: jsonBody(reference('UserGroupBody'), exampleUserGroupBody),
          responses: responses({
            response: jsonResponse(reference('UpdateResponse'), 'The user group.', {
              success: 1,
              new_user_group: false,
              user_group: {
                ...exampleGroup,
                properties: exampleProperties,
                api_environment_tag: 'Customer',
              },
            }),
            faults: [...commonFaults, 'user_group_not_found'],
          }),
        },
      },
      '/oauth2/introspect': {
        post: {
          operationId: 'introspectUserGroupToken',
          tags: ['Renderer'],
          summary: 'Whose token is this, and what may it see',
          description:
            'Token introspection (RFC 7662). A token that is unknown, replaced, expired, malformed, or of another workspace or environment is answered `{"active":false}` and nothing else. Each answer is read from the store: a token that was rotated is inactive in the very next call. Scope: `introspect`.',
          security: [{ apiToken: [] }, { bearer: [] }, { basic: [] }],
          requestBody: {
            required: true,
            content: {
              'application/x-www-form-urlencoded': {
                schema: reference('IntrospectionBody'),
                example: { token: exampleGroup.token },
              },
            },
          },
          responses: responses({
            response: jsonResponse(
              reference('IntrospectionResponse'),
              'Whose token it is, if it is active.',
              {
                active: true,
                token_type: 'user_group',
                sub: exampleGroup.provided_id,
                iat: 1_790_000_000,
                team_id: exampleGroup.team_id,
                name: exampleGroup.name,
                api_environment_tag: 'Customer',
                mapping: { '40': '213' },
                data_sources: { '40': { id: 213, provided_id: 'warehouse-eu', name: 'Warehouse EU' } },
                properties: exampleProperties,
              },
            ),
            faults: requestFaults,
          }),
        },
      },
      ...adminPaths(),
      '/healthz': healthPath('healthz', 'Whether the process lives', 'ok', ['internal']),
      '/readyz': healthPath('readyz', 'Whether the store answers and the service is not stopping', 'ready', [
        'unavailable',
      ]),
    },
    components: {
      securitySchemes: {
        apiToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'The value is `Token <API_TOKEN>`. An API token belongs to one workspace and one environment; `ugs api-token create` makes one.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The API token.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'Any user name, and the API token as the password.',
        },
      },
      schemas: {
        UserGroupBody,
        RotationBody,
        GetOrCreateResponse,
        UpdateResponse,
        RotationResponse,
        IntrospectionBody,
        IntrospectionResponse,
        ...adminSchemas,
        ErrorResponse,
      },
      headers: {
        RequestId: {
          description: 'Finds the request in the log of the service.',
          schema: { type: 'string' },
        },
        ETag: {
          description: 'The state of the user group, to be sent as If-Match.',
          schema: { type: 'string' },
          example: '"1.4"',
        },
      },
    },
  }
}

/** The method override gives POST the bodies and answers of the other operations too. */
function anyOf(...schemas: string[]): object {
  return { anyOf: schemas.map(reference) }
}

function healthPath(name: string, summary: string, status: string, faults: readonly FaultCode[]): object {
  return {
    get: {
      operationId: name,
      tags: ['Operation'],
      summary,
      security: [],
      responses: responses({
        response: {
          description: summary,
          content: {
            'application/json': {
              schema: { type: 'object', required: ['status'], properties: { status: { const: status } } },
              example: { status },
            },
          },
        },
        faults: ['malformed_request', 'method_not_allowed', ...faults],
      }),
    },
  }
}
