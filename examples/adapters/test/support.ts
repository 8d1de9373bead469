import { after, before } from 'node:test'
import { sendRequest } from '../../../server/test/support/http.ts'
import { createApiToken, runCommand } from '../../../server/test/support/command.ts'
import { lifo, type Scope } from '../../../server/test/support/scope.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'

const publicUrl = 'https://user-groups.example.com'
/** Issuer of the sessions of these tests. */
export const issuer = `${publicUrl}/jwks/1/customer`

/** A service with user groups in the environment Customer. */
export interface Host {
  readonly service: RunningService
  /** API token with the scope `introspect`. */
  readonly introspectionToken: string
  readonly introspectionUrl: string
  readonly jwksUrl: string
  /** Runs a `ugs` command in the environment Customer. */
  readonly ugs: (...args: string[]) => Promise<string>
  /** Creates a session of the viewer `u-7`, as a host backend does. */
  readonly createSession: (userGroupId: string, body?: object) => Promise<string>
  /** Ends the sessions of this viewer. */
  readonly endSessions: (userGroupId: string) => Promise<void>
}

/** Starts a service for a suite. Call this in a `describe`, and the returned function in its tests. */
export function sharedHost(): () => Host {
  let host: Host
  const scope = lifo({ after })
  before(async () => {
    host = await startHost(scope)
  })
  return () => host
}

async function startHost(scope: Scope): Promise<Host> {
  const service = await startService(scope, { UGS_PUBLIC_URL: publicUrl, UGS_MAPPING: 'registered' })
  const post = async (path: string, body: object) => {
    const request = { method: 'POST', path, token: service.tokens.Customer, body }
    const { status, text } = await sendRequest(service.origin, request)
    if (status !== 200) throw new Error(text)
    return JSON.parse(text) as { session: { token: string } }
  }
  return {
    service,
    introspectionToken: await createApiToken(service, 'Customer', '--scopes', 'introspect'),
    introspectionUrl: `${service.origin}/oauth2/introspect`,
    jwksUrl: `${service.origin}/jwks/1/customer.json`,
    ugs: (...args) => runCommand(service, ...args, '--environment', 'Customer'),
    createSession: async (userGroupId, body = {}) => {
      const request = { user_group_id: userGroupId, viewer: { id: 'u-7' }, ...body }
      return (await post('/api/user/create-session', request)).session.token
    },
    endSessions: async (userGroupId) => {
      await post('/api/user/end-sessions', { user_group_id: userGroupId, viewer_id: 'u-7' })
    },
  }
}
