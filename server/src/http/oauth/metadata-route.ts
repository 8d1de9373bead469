import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { scopes } from '../../domain/api-token/api-token.ts'
import { isForwardedFromHttps } from '../forwarded-scheme.ts'
import { oauthPaths } from '../operations.ts'
import { publicPathOf } from '../public-url.ts'
import { sendJson } from '../response.ts'

const secretMethods = ['client_secret_basic', 'client_secret_post']

/** Adds the metadata of the OAuth endpoints (RFC 8414). For an issuer with a path, clients append the path to that of the metadata. */
export function addMetadataRoute(app: FastifyInstance, publicUrl: string | null): void {
  for (const path of new Set(['', publicPathOf(publicUrl)]))
    app.get(oauthPaths.metadata + path, (request, reply) =>
      sendJson(reply, 200, JSON.stringify(metadataOf(publicUrl ?? issuerOf(request.raw)))),
    )
}

export function metadataOf(issuer: string): object {
  return {
    issuer,
    introspection_endpoint: issuer + oauthPaths.introspect,
    introspection_endpoint_auth_methods_supported: [...secretMethods, 'Bearer'],
    revocation_endpoint: issuer + oauthPaths.revoke,
    revocation_endpoint_auth_methods_supported: [...secretMethods, 'Bearer'],
    scopes_supported: scopes,
    // The service issues no OAuth tokens. RFC 8414 requires the first, and without the second clients assume grants.
    response_types_supported: [],
    grant_types_supported: [],
    service_documentation: `${issuer}/docs`,
  }
}

/** Returns the origin that the client used, which must be the issuer. A proxy that ends TLS reports the scheme. */
function issuerOf({ headers }: IncomingMessage): string {
  return `${isForwardedFromHttps(headers) ? 'https' : 'http'}://${headers.host ?? 'localhost'}`
}
