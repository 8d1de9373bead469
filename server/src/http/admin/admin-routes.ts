import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  adminOperations,
  type AdminOperation,
  type AdminOperationId,
} from '../../contract/admin/admin-operations.ts'
import { NoQuery } from '../../contract/admin/admin-queries.ts'
import * as adminSchemas from '../../contract/admin/admin-schemas.ts'
import { bulkFormats, rowReaders, type BulkFormat } from '../../contract/import/import-rows.ts'
import { readStrictJson, type JsonDocument } from '../../contract/json/strict-json.ts'
import { compileValidator } from '../../contract/validator.ts'
import type { ConsoleSessions } from '../../domain/session/console-sessions.ts'
import { validationFailed } from '../../domain/fault.ts'
import { shownPointer } from '../../domain/json/json-pointer.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limit.ts'
import type { ImportRow } from '../../domain/user-group/user-group-import.ts'
import type { Caller } from '../../domain/user-group/user-group-service.ts'
import { handlersOf, type AdminServices } from './admin-handlers.ts'
import { sendJson } from '../response.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import {
  bodyReadingOf,
  checkBodyHeaders,
  checkUploadHeaders,
  mediaTypeOf,
  readUpload,
  withBody,
} from '../request-body.ts'
import { authorize, callerOf } from '../request-context.ts'
import { findSession } from '../console/console-session.ts'
import { etagOf } from './etag.ts'

/** A call of `/admin/v1`, its input judged by the schemas of its operation. */
export interface AdminRequest {
  readonly caller: Caller
  /** What stands in the path. */
  readonly params: Readonly<Record<string, number>>
  readonly query: unknown
  /** Where the operation has one. */
  readonly body: JsonDocument
  /** Of an operation that takes rows. */
  readonly readRows: () => AsyncIterable<readonly ImportRow[]>
  readonly ifMatch: string | undefined
}

export type AdminResponse =
  | {
      readonly json: string
      /** The user group that is answered, for the ETag. */
      readonly userGroup?: { readonly teamId: number; readonly revision: number }
    }
  | { readonly format: BulkFormat; readonly stream: Readable }

export interface AdminRoutesDependencies extends AdminServices {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  /** Of the console; an API token goes before them. */
  readonly sessions: ConsoleSessions
}

type Validate = (value: unknown) => void

const noDocument: JsonDocument = { value: undefined, members: new Map() }

/** The management API, route by route as `adminOperations` lists them. */
export function addAdminRoutes(app: FastifyInstance, parts: AdminRoutesDependencies): void {
  const authentication = new Authentication(['Token'], parts.authentication)
  const { sessions, rateLimiter } = parts
  const handlers = handlersOf(parts)
  for (const id of Object.keys(adminOperations) as AdminOperationId[]) {
    const operation: AdminOperation = adminOperations[id]
    const validateQuery: Validate = compileValidator(operation.query ?? NoQuery)
    const validateBody: Validate | undefined =
      operation.body && operation.takesRows !== true
        ? compileValidator(adminSchemas[operation.body])
        : undefined
    app.route({
      method: operation.method,
      url: `/admin/v1${operation.path.replaceAll(/\{(\w+)\}/g, ':$1(^[1-9]\\d{0,14}$)')}`,
      config: { challenge: authentication.challenge },
      onRequest: async (request, reply) => {
        const apiToken = await app.loadShedder.during(async () => {
          const session = await findSession(request, sessions)
          return session?.apiToken ?? authentication.authenticate(request.raw.headers.authorization)
        })
        authorize(request, reply, { apiToken, operation: id }, rateLimiter)
        if (operation.takesRows === true) checkUploadHeaders(request.raw, Object.values(bulkFormats))
        else if (validateBody !== undefined)
          checkBodyHeaders(request.raw, 'application/json', bodyReadingOf(request))
      },
      handler: async (request, reply) => {
        const params = paramsOf(request)
        const query = queryOf(request, validateQuery)
        const work = (body: JsonDocument) => {
          validateBody?.(body.value)
          return handlers[id]({
            caller: callerOf(request),
            params,
            query,
            body,
            readRows: () => readRows(request),
            ifMatch: request.headers['if-match'],
          })
        }
        const response =
          validateBody === undefined
            ? await app.loadShedder.during(() => work(noDocument))
            : await withBody(request.raw, bodyReadingOf(request), (body) => work(readStrictJson(body)))
        if ('stream' in response) return reply.type(bulkFormats[response.format]).send(response.stream)
        if (response.userGroup !== undefined) reply.header('etag', etagOf(response.userGroup))
        return sendJson(reply, operation.status ?? 200, response.json)
      },
    })
  }
}

function paramsOf({ params }: FastifyRequest): Record<string, number> {
  const texts = Object.entries(params as Record<string, string>)
  return Object.fromEntries(texts.map(([name, text]) => [name, Number(text)]))
}

/** @throws Fault `body_required`, `malformed_request`, and what the reader of the format throws */
function readRows(request: FastifyRequest): AsyncIterable<readonly ImportRow[]> {
  const mediaType = mediaTypeOf(request.raw, Object.values(bulkFormats))
  const read = mediaType === bulkFormats.csv ? rowReaders.csv : rowReaders.ndjson
  return read(readUpload(request.raw))
}

/** @throws Fault `validation_failed` */
function queryOf({ raw }: FastifyRequest, validate: Validate): unknown {
  const text = /\?(.*)$/s.exec(raw.url ?? '')?.[1] ?? ''
  if (!isEncoded(text))
    throw validationFailed([{ path: '', message: 'the query is not UTF-8, encoded as in a URL' }])
  const parameters = new URLSearchParams(text)
  for (const name of parameters.keys()) {
    if (parameters.getAll(name).length > 1)
      throw validationFailed([{ path: shownPointer([name]), message: 'is given more than once' }])
  }
  const query = Object.fromEntries(parameters)
  validate(query)
  return query
}

/** What is not would be read as U+FFFD, which nobody has searched for. */
function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
