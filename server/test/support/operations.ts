import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { operationIds, operationOf, adminPath, type AdminInput } from './admin-api.ts'
import type { AdminOperationId } from '../../src/http/admin/operations.ts'
import { bulkFormats } from '../../src/contract/import/import-rows.ts'
import type { Scope as ApiScope } from '../../src/domain/api-token/api-token.ts'
import { scopesFor } from '../../src/http/operations.ts'
import { startApp } from './app.ts'
import type { Belongings } from './belongings.ts'
import { sendRequest, type HttpResponse } from './http.ts'
import { oauthCodeOf } from '../../src/contract/errors.ts'
import { formType, introspectionPath, revocationPath } from './introspection.ts'
import type { Scope } from './scope.ts'
import type { ErrorCode } from './user-api.ts'

const roles = { claim: 'groups', scope: 'openid', rules: [] }

/** Returns every route of the application as `METHOD /path`. */
export async function routesOf(t: Scope): Promise<string[]> {
  const routes: string[] = []
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      routes.push(...[method].flat().map((one) => `${one} ${url}`))
    })
  }
  subscribe('fastify.initialization', listen)
  const publicUrl = 'https://ugs.example.com'
  const provider = { issuer: 'https://login.example.com', clientId: 'console', clientSecret: null, roles }
  const people = { provider, allowsTokenSignIn: true }
  await startApp(t, { now: () => 0, monotonic: () => 0 }, null, {}, { publicUrl, people })
  unsubscribe('fastify.initialization', listen)
  return routes.map((route) => route.replaceAll(/:(\w+)(?:\(\^.*?\$\))?/g, '{$1}')).sort()
}

/** An operation that authenticates. */
export interface Operation {
  /** The route in the form of `routesOf`. */
  readonly route: string
  /** Scopes of which an API token needs one. */
  readonly scopes: readonly ApiScope[]
  /** The error code of a 401. */
  readonly challenge: string
  /** True if a session of the console may replace an API token. */
  readonly takesSession: boolean
  /** A request for resources of a tenant scope. */
  readonly send: (origin: string, headers: Record<string, string>, of: Belongings) => Promise<HttpResponse>
}

interface Described {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Default: `/api/user`. */
  readonly path?: string
  readonly headers?: (of: Belongings) => Record<string, string>
  readonly body: (of: Belongings) => object
  readonly scopes?: readonly ApiScope[]
}

const aKey = ({ idempotencyKey }: Belongings) => ({ 'idempotency-key': idempotencyKey })
const as = (method: string) => () => ({ 'x-http-method-override': method })
const rotation = ({ token }: Belongings) => ({ current_token: token })
const seen = ({ userGroupId }: Belongings) => ({ user_group_id: userGroupId })
const changed = ({ userGroupId }: Belongings) => ({ user_group_id: userGroupId, name: 'Taken' })

const ofUserGroups = {
  getOrCreate: { method: 'GET', body: seen, scopes: ['read', 'write'] },
  getOrCreateByOverride: { method: 'POST', headers: as('GET'), body: seen, scopes: ['read', 'write'] },
  update: { method: 'PUT', body: changed },
  updateByOverride: { method: 'POST', headers: as('PUT'), body: changed },
  rotateReplaced: { method: 'POST', body: ({ replacedToken }) => ({ current_token: replacedToken }) },
  rotateAgain: {
    method: 'POST',
    headers: aKey,
    body: ({ replacedToken }) => ({ current_token: replacedToken, grace_period_seconds: 3600 }),
  },
  getOrCreateByPath: {
    method: 'POST',
    path: '/api/user/get-or-create',
    body: seen,
    scopes: ['read', 'write'],
  },
  updateByPath: { method: 'POST', path: '/api/user/update', body: changed },
  rotateReplacedByPath: {
    method: 'POST',
    path: '/api/user/rotate-token',
    body: ({ replacedToken }) => ({ current_token: replacedToken }),
  },
  createSession: {
    method: 'POST',
    path: '/api/user/create-session',
    body: ({ userGroupId }) => ({ user_group_id: userGroupId, viewer: { id: 'u-7' } }),
    scopes: ['read', 'write'],
  },
  endSessions: { method: 'POST', path: '/api/user/end-sessions', body: seen },
  recordUsage: {
    method: 'POST',
    path: '/usage',
    body: ({ teamId }) => ({ marks: [{ team_id: teamId, day: new Date().toISOString().slice(0, 10) }] }),
    scopes: ['introspect'],
  },
  rotate: { method: 'POST', body: rotation },
} as const satisfies Record<string, Described>

const byTeamId = ({ teamId }: Belongings) => ({ params: { team_id: teamId } })
const byRevision = ({ teamId }: Belongings) => ({ params: { team_id: teamId, revision: 2 } })
const byEndpoint = ({ webhookEndpointId }: Belongings) => ({ params: { id: webhookEndpointId } })
const byDelivery = ({ webhookEndpointId: id, webhookDeliveryId: delivery_id }: Belongings) => ({
  params: { id, delivery_id },
})
const byJob = ({ jobId }: Belongings) => ({ params: { id: jobId } })
const nothing = () => ({})

const ofManagement: Record<AdminOperationId, (of: Belongings) => AdminInput> = {
  getOverview: nothing,
  searchUserGroups: nothing,
  createUserGroup: () => ({ body: { user_group_id: `made ${++userGroups}`, name: 'x' } }),
  getUserGroup: byTeamId,
  patchUserGroup: (of) => ({ ...byTeamId(of), body: { name: 'Taken' } }),
  deleteUserGroup: byTeamId,
  deleteUserGroupByProvidedId: ({ leavingUserGroupId }) => ({ query: { user_group_id: leavingUserGroupId } }),
  getUserGroupToken: byTeamId,
  rotateTokenOfUserGroup: (of) => ({ ...byTeamId(of), body: {} }),
  suspendUserGroup: byTeamId,
  resumeUserGroup: byTeamId,
  viewAsUserGroup: byTeamId,
  endSessionsOfUserGroup: (of) => ({ ...byTeamId(of), body: {} }),
  viewUserGroup: byTeamId,
  listUserGroupVersions: byTeamId,
  diffUserGroupVersions: byRevision,
  restoreUserGroupVersion: byRevision,
  listDeletedUserGroups: nothing,
  eraseUserGroup: ({ deletedTeamId }) => ({ params: { team_id: deletedTeamId } }),
  restoreDeletedUserGroup: ({ deletedTeamId }) => ({ params: { team_id: deletedTeamId } }),
  importUserGroups: ({ userGroupId }) => ({
    body: { user_group_id: userGroupId, properties: { taken: true } },
  }),
  exportUserGroups: nothing,
  createJob: ({ teamId }) => ({ body: { action: 'resume', team_ids: [teamId] } }),
  listJobs: nothing,
  getJob: byJob,
  cancelJob: byJob,
  listJobResults: byJob,
  listIsolationFindings: nothing,
  exportIsolationFindings: nothing,
  acceptIsolationFinding: ({ schemaProvidedId: schema, findingVersion: version }) => ({
    body: { kind: 'shared', schema, data_source: 'eu', version, reason: 'x' },
  }),
  reopenIsolationFinding: () => ({ body: { kind: 'unresolved', schema: 'nowhere', data_source: 'nothing' } }),
  listPromotionCandidates: nothing,
  promoteUserGroups: ({ userGroupId }) => ({ body: { user_group_ids: [userGroupId] } }),
  reportLeakedToken: ({ token }) => ({ body: { token, rotate: true } }),
  listUsage: nothing,
  exportUsage: nothing,
  eraseUsage: () => ({ query: { viewer_id: 'u-7' } }),
  listApiTokens: nothing,
  createApiToken: () => ({ body: { name: 'x', scopes: ['admin'] } }),
  rotateApiToken: ({ apiTokenId }) => ({ params: { id: apiTokenId }, body: {} }),
  revokeApiToken: ({ apiTokenId }) => ({ params: { id: apiTokenId } }),
  listWorkspaces: nothing,
  createWorkspace: () => ({ body: { name: `made ${++workspaces}` } }),
  listConsoleSessions: nothing,
  endConsoleSession: ({ consoleSessionId }) => ({ params: { id: consoleSessionId } }),
  listAuditEvents: ({ userGroupId }) => ({ query: { user_group_id: userGroupId } }),
  exportAuditEvents: ({ userGroupId }) => ({ query: { user_group_id: userGroupId } }),
  exportConfiguration: nothing,
  applyConfiguration: () => ({
    query: { prune: true },
    body: { version: 1, schemas: [{ provided_id: `made ${++schemas}`, name: 'x' }], webhook_endpoints: [] },
  }),
  listSchemas: nothing,
  createSchema: () => ({ body: { provided_id: `made ${++schemas}`, name: 'x' } }),
  deleteSchema: ({ unusedSchemaId }) => ({ params: { id: unusedSchemaId } }),
  listDataSources: ({ schemaId }) => ({ query: { schema_id: schemaId } }),
  createDataSource: ({ schemaId }) => ({ body: { schema_id: schemaId, provided_id: 'us', name: 'x' } }),
  deleteDataSource: ({ dataSourceId }) => ({ params: { id: dataSourceId } }),
  listWebhookEndpoints: nothing,
  createWebhookEndpoint: () => ({ body: { name: 'x', url: 'https://receiver.invalid/' } }),
  getWebhookEndpoint: byEndpoint,
  updateWebhookEndpoint: (of) => ({ ...byEndpoint(of), body: { name: 'Taken' } }),
  deleteWebhookEndpoint: byEndpoint,
  rotateWebhookEndpoint: (of) => ({ ...byEndpoint(of), body: {} }),
  testWebhookEndpoint: byEndpoint,
  listWebhookDeliveries: byEndpoint,
  getWebhookDelivery: byDelivery,
  redeliverWebhook: byDelivery,
  redeliverWebhooks: (of) => ({ ...byEndpoint(of), body: { since: '2020-01-01T00:00:00Z' } }),
}
let workspaces = 0
let schemas = 0
let userGroups = 0

export type OperationId =
  keyof typeof ofUserGroups | 'introspect' | 'revoke' | 'readEvents' | AdminOperationId

/** Every operation that authenticates, with every way to call `/api/user`. */
export const operations = Object.fromEntries([
  [
    'readEvents',
    {
      route: 'GET /events',
      scopes: ['introspect', 'admin'],
      challenge: 'Token',
      takesSession: false,
      send: (origin, headers, { eventPosition }) =>
        sendRequest(origin, {
          path: `/events?wait=1${eventPosition === null ? '' : `&after=${eventPosition}`}`,
          headers,
        }),
    } satisfies Operation,
  ],
  [
    'introspect',
    {
      route: `POST ${introspectionPath}`,
      scopes: ['introspect'],
      challenge: 'Token, Bearer realm="User Group Service", Basic realm="User Group Service"',
      takesSession: false,
      send: (origin, own, { token }) =>
        sendRequest(origin, {
          method: 'POST',
          path: introspectionPath,
          headers: { 'content-type': formType, ...own },
          body: `token=${token}`,
        }),
    } satisfies Operation,
  ],
  [
    'revoke',
    {
      route: `POST ${revocationPath}`,
      scopes: ['write'],
      challenge: 'Token, Bearer realm="User Group Service", Basic realm="User Group Service"',
      takesSession: false,
      // Not the current token, which other operations use.
      send: (origin, own, { replacedToken }) =>
        sendRequest(origin, {
          method: 'POST',
          path: revocationPath,
          headers: { 'content-type': formType, ...own },
          body: `token=${replacedToken}`,
        }),
    } satisfies Operation,
  ],
  ...Object.entries<Described>(ofUserGroups).map(
    ([id, { method, path = '/api/user', headers, body, scopes }]) => [
      id,
      {
        route: `${method} ${path}`,
        scopes: scopes ?? ['write'],
        challenge: 'Token',
        takesSession: false,
        send: (origin, own, of) =>
          sendRequest(origin, { method, path, headers: { ...headers?.(of), ...own }, body: body(of) }),
      } satisfies Operation,
    ],
  ),
  ...operationIds.map((id) => [id, managementOperation(id)] as const),
]) as Readonly<Record<OperationId, Operation>>

function managementOperation(id: AdminOperationId): Operation {
  const { method, path, takesRows } = operationOf(id)
  return {
    route: `${method} /admin/v1${path}`,
    scopes: scopesFor(id),
    challenge: 'Token',
    takesSession: true,
    send: (origin, own, of) => {
      const input = ofManagement[id](of)
      return sendRequest(origin, {
        ...{ method, path: adminPath(id, input) },
        headers: { ...(takesRows && { 'content-type': bulkFormats.ndjson }), ...own },
        ...(input.body !== undefined && { body: input.body }),
      })
    },
  }
}

/** Routes without authentication, with the same response for every client. */
export const openRoutes =
  /^(?:GET|HEAD) \/(?:healthz|readyz|openapi\.json|\.well-known\/oauth-authorization-server|jwks\/\{workspace_id\}\/\{environment\}\.json|docs\b.*|console|console\/sign-in|console\/oidc\/(?:start|callback)|console\/\*|console\/assets\/\*)$/

/** Routes for gateways, whose 401 has no body. `forward-auth.test.ts` tests them. */
export const gatewayRoutes = / \/forward-auth\b/

/** Routes that sign in to the console and out. */
export const sessionRoutes = [
  ...['DELETE', 'GET', 'POST'].map((method) => `${method} /console/session`),
  'POST /console/session/link',
]

/** Returns true if the response is an error with this code. */
export function assertCode(response: HttpResponse, code: ErrorCode, { challenge }: Operation): void {
  const { error } = response.body as { error?: { code: string } | string }
  const isOAuth = typeof error === 'string'
  assert.equal(isOAuth ? error : error?.code, isOAuth ? oauthCodeOf(code) : code, response.text)
  const header = response.headers['www-authenticate']
  if (isOAuth) assert.equal(header?.replace(/, (?:error|scope)="\w+"/g, ''), challenge)
  else assert.equal(header, code === 'unauthenticated' ? challenge : undefined)
}
