import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { bulkFormats } from '../../src/contract/import/import-rows.ts'
import { errorTable } from '../../src/contract/errors.ts'
import type { AdminOperation } from '../../src/http/admin/operation.ts'
import { adminOperations, type AdminOperationId } from '../../src/http/admin/operations.ts'
import { schemaNameOf } from '../../src/http/admin/openapi.ts'
import { openApiDocument } from '../../src/http/docs/openapi-document.ts'
import type { FaultCode } from '../../src/domain/fault.ts'
import { createApiToken } from './command.ts'
import { sendRequest, type HttpResponse } from './http.ts'
import { introspector, type Introspect } from './introspection.ts'
import type { Scope } from './scope.ts'
import { tokenPattern } from './secrets.ts'
import { startService, type RunningService } from './service.ts'
import { assertCommonHeaders, userApi, userGroupIn, type ErrorView, type UserGroupView } from './user-api.ts'

export interface AdminInput {
  /** Values of the path parameters. */
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>> | string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An event of the audit log, as the API shows it. */
export interface EventView {
  readonly event_id: string
  readonly occurred_at: string
  readonly action: string
  readonly author: string
  readonly request_id: string | null
  readonly client_address: string | null
  readonly user_agent: string | null
  readonly user_group: { readonly team_id: number; readonly provided_id: string } | null
  readonly details: Record<string, unknown> | null
}

export type AdminApi = Readonly<Record<AdminOperationId, (input?: AdminInput) => Promise<HttpResponse>>>

export const operationIds = Object.keys(adminOperations) as AdminOperationId[]

export const operationOf = (id: AdminOperationId): AdminOperation => adminOperations[id]

export function adminPath(id: AdminOperationId, { params = {}, query = '' }: AdminInput = {}): string {
  const path = operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? 1))
  const text =
    typeof query === 'string'
      ? query
      : new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  return `/admin/v1${path}${text && `?${text}`}`
}

/**
 * Returns a client of `/admin/v1`. A string or bytes as the body are sent unchanged. Rows are sent as NDJSON unless a header says
 * otherwise.
 */
export function adminApi(origin: string, token?: string): AdminApi {
  return Object.fromEntries(
    operationIds.map((id) => [
      id,
      (input: AdminInput = {}) =>
        sendRequest(origin, {
          method: operationOf(id).method,
          path: adminPath(id, input),
          token,
          headers: {
            ...(operationOf(id).takesRows === true &&
              input.body !== undefined && { 'content-type': bulkFormats.ndjson }),
            ...input.headers,
          },
          ...(input.body !== undefined && { body: input.body }),
        }),
    ]),
  ) as AdminApi
}

/** Reads the overview until its numbers are exact: on a slow machine, the service stops counting early. */
export async function exactOverview<Overview>(admin: AdminApi): Promise<Overview> {
  for (;;) {
    const overview = assertSucceeded<Overview>(await admin.getOverview(), 'getOverview')
    if (!JSON.stringify(overview).includes('"is_exact":false')) return overview
  }
}

interface Documented {
  readonly paths: Record<string, Record<string, { responses: Record<string, object> }>>
  readonly components: { readonly schemas: Record<string, object> }
}

const { paths, components } = openApiDocument('0.0.0') as Documented
const ajv = new Ajv2020({ strict: false, validateFormats: true, allErrors: true })
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
// References start at the root of the document.
ajv.addSchema({ $id: 'document', components })

function assertSchema(value: unknown, name: string): void {
  // Compiles the schema at its first use.
  const validate = ajv.getSchema(`document#/components/schemas/${name}`)
  assert.ok(validate?.(value), `${name}: ${JSON.stringify(validate?.errors)}\n${JSON.stringify(value)}`)
}

/** Asserts that the OpenAPI document has a response with this status. */
function assertDocumented(id: AdminOperationId, status: number): void {
  const { path, method } = operationOf(id)
  const documented = paths[`/admin/v1${path}`]?.[method.toLowerCase()]?.responses ?? {}
  assert.ok(String(status) in documented, `${id}: ${status} is not in the OpenAPI document`)
}

/** Returns whether a response of this operation has a token or a secret, by its schema. */
function showsToken(id: AdminOperationId): boolean {
  const { response } = operationOf(id)
  if (schemaNameOf(response) === 'ViewAsResponse') return true
  return (
    'properties' in response &&
    ['token', 'secret'].some((name) => name in (response.properties as object)) &&
    schemaNameOf(response) !== 'UserGroupViewResponse'
  )
}

/** Returns the rows of an NDJSON response. */
export function rowsIn<T>({ text }: Pick<HttpResponse, 'text'>): T[] {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line has no end')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T)
}

/**
 * Asserts that the response matches the operation's schema and contains a token only if the schema has one. Returns its body, or
 * its rows.
 */
// The caller names the type that corresponds to the asserted schema.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export function assertSucceeded<T = any>(response: HttpResponse, id: AdminOperationId): T {
  const { status = 200, response: schema, returnsRows } = operationOf(id)
  assert.equal(response.status, status, response.text)
  assert.equal(response.headers['content-type'], returnsRows ? bulkFormats.ndjson : 'application/json')
  assertCommonHeaders(response)
  assertDocumented(id, status)
  const body: unknown = returnsRows ? rowsIn(response) : response.body
  for (const value of returnsRows ? (body as unknown[]) : [body]) assertSchema(value, schemaNameOf(schema))
  assert.equal(response.text.match(tokenPattern)?.length ?? 0, showsToken(id) ? 1 : 0, response.text)
  return body as T
}

/** Asserts the whole shape of an error of the operation. `fields` lists the invalid paths in any order. */
export function assertRefused(
  response: HttpResponse,
  id: AdminOperationId,
  code: FaultCode,
  fields: readonly string[] = [],
): ErrorView {
  const { error } = response.body as { error?: ErrorView }
  assert.deepEqual([response.status, error?.code], [errorTable[code].status, code], response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
  assertDocumented(id, response.status)
  assertSchema(response.body, 'ErrorResponse')
  assert.equal(error?.request_id, response.headers['x-request-id'])
  assert.deepEqual((error?.fields ?? []).map(({ path }) => path).sort(), [...fields].sort(), response.text)
  assert.doesNotMatch(response.text, tokenPattern)
  assert.equal(response.headers['www-authenticate'], code === 'unauthenticated' ? 'Token' : undefined)
  return error as ErrorView
}

/** A user group in a response of `/admin/v1`. */
export interface AdminUserGroup {
  readonly team_id: number
  readonly provided_id: string
  readonly api_environment_tag: string
  readonly name: string
  readonly mapping: Record<string, string> | null
  readonly properties: Record<string, unknown> | null
  readonly revision: number
  readonly created_at: string
  readonly updated_at: string
  readonly updated_by: string | null
  readonly token_issued_at: string
  readonly suspended_at: string | null
}

export function managedIn(response: HttpResponse, id: AdminOperationId): AdminUserGroup {
  return assertSucceeded<{ user_group: AdminUserGroup }>(response, id).user_group
}

/** Clients of one environment of a service. */
export interface ManagedEnvironment {
  readonly admin: AdminApi
  readonly adminToken: string
  readonly user: ReturnType<typeof userApi>
  readonly introspect: Introspect
  /** Creates a user group through `/api/user`. Default name is the id. */
  readonly create: (id: string, fields?: object) => Promise<UserGroupView>
}

export async function manage(
  service: RunningService,
  environment: 'Customer' | 'Testing' = 'Customer',
  workspace = 'default',
): Promise<ManagedEnvironment> {
  const issueToken = (scope: string) =>
    createApiToken(service, environment, '--workspace', workspace, '--scopes', scope)
  const [adminToken, writeToken, introspectToken] = await Promise.all([
    issueToken('admin'),
    issueToken('write'),
    issueToken('introspect'),
  ])
  const user = userApi(service.origin, writeToken)
  return {
    admin: adminApi(service.origin, adminToken),
    adminToken,
    user,
    introspect: introspector(service.origin, introspectToken),
    create: async (id, fields = {}) =>
      userGroupIn(await user.get({ user_group_id: id, name: id, ...fields })),
  }
}

/** Starts a service without an API token cache, so that revocation takes effect at once. Returns its environment `Customer`. */
export async function startManaged(
  t: Scope,
  settings: Record<string, string> = {},
): Promise<ManagedEnvironment & { readonly service: RunningService }> {
  const dashboards = { UGS_DASHBOARD_URL: 'https://app.example.com/dashboards#session={session}' }
  const service = await startService(t, { UGS_API_TOKEN_CACHE_MS: '0', ...dashboards, ...settings })
  return { service, ...(await manage(service)) }
}

/** Returns `team_id` as a path parameter. */
export const of = ({ team_id }: { readonly team_id: number }) => ({ params: { team_id } })
