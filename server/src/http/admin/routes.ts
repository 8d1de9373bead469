import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { object } from '../../contract/schema.ts'
import type { Delimiter } from '../../contract/import/csv.ts'
import { bulkFormats, rowReaders } from '../../contract/import/import-rows.ts'
import { writeJson } from '../../contract/json/json-writer.ts'
import { readStrictJson, type JsonDocument } from '../../contract/json/strict-json.ts'
import { compileValidator } from '../../contract/validator.ts'
import { validationFailed } from '../../domain/fault.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import { Fault } from '../../domain/fault.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { ImportRow } from '../../domain/user-group/user-group-import.ts'
import { isPerson, scopesOf } from '../../domain/principal.ts'
import { FairPool } from '../../domain/util/fair-pool.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { findSession, type SessionAccess } from '../console/console-session.ts'
import { queryOf } from '../query.ts'
import { checkBodyHeaders, checkUploadHeaders, mediaTypeOf, readUpload, withBody } from '../request-body.ts'
import { authorize, callerOf } from '../authorization.ts'
import { contextOf, type RequestContext } from '../request-context.ts'
import { sendJson } from '../response.ts'
import { etagOf } from './etag.ts'
import type { AdminOperation, AdminServices } from './operation.ts'
import { adminOperations, type AdminOperationId } from './operations.ts'

/** A request with a session of the web console needs no API token. */
export interface AdminRoutesDependencies extends AdminServices, SessionAccess {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
}

/** Maximum number of imports and exports at once, of which one workspace has at most half. */
const maxTransfers = 32

type Validate = (value: unknown) => void

const noDocument: JsonDocument = { value: undefined, members: new Map() }
const fileBody = { whole: 'The body', firstLine: 1, isFile: true } as const
const noParameters = object({})

/** Adds a route for each of `adminOperations`. */
export function addAdminRoutes(app: FastifyInstance, dependencies: AdminRoutesDependencies): void {
  const authentication = new Authentication(['Token'], dependencies.authentication)
  const { rateLimiter } = dependencies
  const transfers = new FairPool(maxTransfers)
  for (const id of Object.keys(adminOperations) as AdminOperationId[]) {
    const operation: AdminOperation = adminOperations[id]
    const validateQuery: Validate = compileValidator(operation.query ?? noParameters)
    const validateBody: Validate | undefined =
      operation.body && operation.takesRows !== true ? compileValidator(operation.body) : undefined
    app.route({
      method: operation.method,
      url: `/admin/v1${operation.path.replaceAll(/\{(\w+)\}/g, ':$1(^[1-9]\\d{0,15}$)')}`,
      config: { challenge: authentication.challenge },
      onRequest: async (request, reply) => {
        const context = contextOf(request.raw)
        const principal = await context.permit.during(async () => {
          const session = await findSession(request, dependencies)
          return session?.principal ?? authentication.authenticate(request.raw.headers.authorization)
        })
        authorize(context, reply, { principal, operation: id }, rateLimiter)
        if (operation.takesRows === true) checkUploadHeaders(request.raw, Object.values(bulkFormats))
        else if (validateBody !== undefined)
          checkBodyHeaders(request.raw, 'application/json', request.routeOptions.bodyLimit)
      },
      handler: async (request, reply) => {
        const context = contextOf(request.raw)
        if (operation.returnsRows !== undefined) admitTransfer(transfers, callerOf(context), reply)
        const params = paramsOf(request)
        const query = queryOf(request.raw, validateQuery)
        const handle = (body: JsonDocument) => {
          validateBody?.(body.value)
          return operation.handle(
            {
              caller: callerOf(context),
              callerName: nameOf(context),
              maySeeTokens: maySeeTokens(context),
              params,
              query,
              body,
              readRows: (delimiter) => readRows(request, delimiter),
              ifMatch: request.headers['if-match'],
              countRequests: () => context.permit.requests,
            },
            dependencies,
          )
        }
        const response =
          validateBody === undefined
            ? await context.permit.during(() => handle(noDocument))
            : await withBody(context, request.routeOptions.bodyLimit, (body) =>
                handle(readStrictJson(body, operation.takesFile === true ? fileBody : undefined)),
              )
        if ('stream' in response) return reply.type(bulkFormats[response.format]).send(response.stream)
        const etag = response.etag ?? (response.userGroup && etagOf(response.userGroup))
        if (etag !== undefined) reply.header('etag', etag)
        return sendJson(reply, operation.status ?? 200, writeJson(operation.response, response.body))
      },
    })
  }
}

/** Counts an import or export until its response has ended. @throws Fault `unavailable` */
function admitTransfer(transfers: FairPool, { workspaceId }: TenantScope, { raw }: FastifyReply): void {
  const share = transfers.shareOf(workspaceId)
  if (!share.take())
    throw new Fault(
      'unavailable',
      'Too many imports and exports are in flight, of this workspace or of all. Retry when one has ended',
    )
  raw.once('close', () => share.release())
}

function nameOf({ authorized }: RequestContext): string {
  const principal = authorized?.principal
  if (principal === undefined) return ''
  return isPerson(principal) ? (principal.email ?? principal.name) : principal.name
}

function maySeeTokens({ authorized }: RequestContext): boolean {
  return authorized !== undefined && scopesOf(authorized.principal).includes('admin')
}

function paramsOf({ params }: FastifyRequest): Record<string, number> {
  const texts = Object.entries(params as Record<string, string>)
  return Object.fromEntries(texts.map(([name, text]) => [name, Number(text)]))
}

/** @throws Fault `validation_failed`, `body_required`, `malformed_request`, and the errors of the format's reader */
function readRows(request: FastifyRequest, delimiter?: Delimiter): AsyncIterable<readonly ImportRow[]> {
  const isCsv = mediaTypeOf(request.raw, Object.values(bulkFormats)) === bulkFormats.csv
  if (delimiter !== undefined && !isCsv)
    throw validationFailed([{ path: '/delimiter', message: 'is for Content-Type: text/csv only' }])
  return rowReaders[isCsv ? 'csv' : 'ndjson'](readUpload(request.raw), delimiter)
}
