import { ErrorResponse } from '../../contract/errors.ts'
import { eventPaths, eventSchemas } from '../events/openapi.ts'
import { adminComponents, adminPaths, adminTags } from '../admin/openapi.ts'
import { healthPaths } from '../health/openapi.ts'
import { oauthPathItems, oauthSchemas } from '../oauth/openapi.ts'
import { usagePaths, usageSchemas } from '../usage/openapi.ts'
import { userPaths, userSchemas } from '../user/openapi.ts'

/** Returns the OpenAPI 3.1 document of the service at a URL, built from the schemas that validate requests. */
export function openApiDocument(version: string, url = '/'): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'User Group Service',
      version,
      summary: 'Issues a token to each user group for viewing its embedded dashboards.',
      description:
        'Your backend uses one path, `/api/user`, with three operations. The dashboard renderer uses `/oauth2/introspect`. People who manage user groups use `/admin/v1`. GET carries a JSON body; if a proxy, CDN or client cannot send one, use POST with the header `X-HTTP-Method-Override: GET`, or a path such as `/api/user/get-or-create`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url, description: 'The service that serves this document' }],
    security: [{ apiToken: [] }],
    tags: [
      { name: 'User groups', description: 'Get or create, update, and rotate the token of a user group.' },
      {
        name: 'Renderer',
        description: 'Introspection of user group tokens, and events that change what they mean.',
      },
      ...adminTags,
      { name: 'Operation', description: 'For supervisors and load balancers.' },
    ],
    paths: {
      ...userPaths(),
      ...oauthPathItems(),
      ...eventPaths(),
      ...usagePaths(),
      ...adminPaths(),
      ...healthPaths(),
    },
    components: {
      securitySchemes,
      schemas: {
        ...userSchemas,
        ...oauthSchemas,
        ...eventSchemas,
        ...usageSchemas,
        ...adminComponents(),
        ErrorResponse,
      },
      headers: {
        RequestId: {
          description: 'Identifies the request in the log of the service.',
          schema: { type: 'string' },
        },
        EventPosition: {
          description: 'A position in the events. The response includes all changes up to it.',
          schema: { type: 'string' },
          example: 'k3jf81qz-1842',
        },
        ETag: {
          description: 'State of the user group. Send it as If-Match.',
          schema: { type: 'string' },
          example: '"1.4"',
        },
      },
    },
  }
}

const securitySchemes = {
  apiToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'The value is `Token <API_TOKEN>`. An API token belongs to one workspace and one environment. Create one with `ugs api-token create`.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The API token.' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'Any user name, and the API token as the password.',
  },
}
