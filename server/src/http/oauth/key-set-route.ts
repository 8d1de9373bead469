import type { FastifyInstance } from 'fastify'
import { environments } from '../../domain/environment.ts'
import type { SigningKeys } from '../../domain/viewer-session/signing-keys.ts'
import { oauthPaths } from '../operations.ts'
import { sendJson } from '../response.ts'

/** Adds the public keys by which other engines verify viewer sessions (RFC 7517). The same for a workspace that does not exist. */
export function addKeySetRoute(app: FastifyInstance, keys: SigningKeys): void {
  const names = environments.map((environment) => environment.toLowerCase()).join('|')
  const url = oauthPaths.keySet
    .replace('{workspace_id}', ':workspace_id(^[1-9]\\d{0,14}$)')
    .replace('{environment}', `:environment(^(?:${names})$)`)
  app.get<{ Params: { workspace_id: string; environment: string } }>(url, async ({ params }, reply) => {
    const workspaceId = Number(params.workspace_id)
    const scopes = environments.filter((environment) => environment.toLowerCase() === params.environment)
    const sets = await Promise.all(scopes.map((environment) => keys.keySet({ workspaceId, environment })))
    reply.header('Cache-Control', 'public, max-age=300')
    return sendJson(reply, 200, JSON.stringify({ keys: sets.flat() }))
  })
}
