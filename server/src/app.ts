import { randomBytes } from 'node:crypto'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { openApiDocument } from './contract/openapi/openapi.ts'
import type { ApiToken } from './domain/api-token/api-token.ts'
import { ApiTokenManagement } from './domain/api-token/api-token-management.ts'
import { AuditLog } from './domain/audit/audit-log.ts'
import type { Clock } from './domain/util/clock.ts'
import { ConsoleSessions } from './domain/session/console-sessions.ts'
import { DataSourceManagement } from './domain/data-source/data-source-management.ts'
import { Fault } from './domain/fault.ts'
import { Promotion } from './domain/user-group/promotion.ts'
import type { RateLimiter } from './domain/api-token/rate-limit.ts'
import type { Store } from './domain/store.ts'
import type { LastUsedRecorder } from './domain/api-token/last-used-tracker.ts'
import type { TokenlessUserGroup } from './domain/user-group/user-group.ts'
import { UserGroupManagement } from './domain/user-group/user-group-management.ts'
import type { UserGroupService } from './domain/user-group/user-group-service.ts'
import { LoadShedder } from './http/server/load-shedder.ts'
import { accessLog } from './observability/access-log.ts'
import { addAdminRoutes } from './http/admin/admin-routes.ts'
import { setCommonHeaders } from './http/response.ts'
import { leaveBodiesUnread } from './http/request-body.ts'
import type { RequestTracer } from './http/server/request-tracing.ts'
import {
  RequestTracker,
  FastifyTrackedRequest,
  type RequestObserver,
} from './http/server/request-lifecycle.ts'
import { addConsoleRoutes } from './http/console/console-routes.ts'
import { FastPath } from './http/user/fast-path.ts'
import { addDocsRoutes } from './http/docs/docs-routes.ts'
import { sendFault } from './http/error-response.ts'
import { validateRequest, closeOnAmbiguousFraming } from './http/server/request-validation.ts'
import { addHealthRoutes } from './http/health/health-routes.ts'
import { refuseUpgrades } from './http/server/upgrade-refusal.ts'
import { introspectionRoute } from './http/user/introspection-route.ts'
import { enforceRequestTimeout } from './http/server/request-timeout.ts'
import { ResponseCache } from './http/user/response-cache.ts'
import { closeIdleConnections } from './http/server/idle-connection-timeout.ts'
import { sendProtocolError, refuseUnusualRequests, requestTimeout } from './http/server/protocol-errors.ts'
import { userRoute } from './http/user/user-route.ts'

export interface AppDependencies {
  readonly store: Store
  readonly userGroups: UserGroupService
  readonly introspections: LastUsedRecorder<Pick<TokenlessUserGroup, 'workspaceId' | 'teamId'>>
  readonly lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>
  readonly rateLimiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
  /** Where calls are logged, and which share of them, from 0 to 1; null where none is. */
  readonly accessLog: { readonly logger: Logger; readonly share: number } | null
  /** Null where no call is followed. */
  readonly tracer: RequestTracer | null
  /** True once the service has been told to stop: `/readyz` fails from then on. */
  readonly isDraining: () => boolean
  /** Sizes in bytes, times in milliseconds. */
  readonly limits: {
    readonly maxBody: number
    readonly maxHeader: number
    readonly headersTimeout: number
    readonly requestTimeout: number
    readonly keepAliveTimeout: number
    readonly apiTokenCache: number
  }
  readonly version: string
  /** Where the built files of the console are; null where it is not served. */
  readonly consoleFolder: string | null
  /** Null where nothing is measured. */
  readonly requestObserver: RequestObserver | null
}

/** Puts the application together: every hook and route, in order. It neither listens nor reads the environment. */
export async function buildApp(parts: AppDependencies): Promise<FastifyInstance> {
  const {
    store,
    userGroups,
    introspections,
    lastUsedTracker,
    rateLimiter,
    clock,
    logger,
    isDraining,
    limits,
  } = parts
  const nextRequestId = requestIds()
  const baseLogger: FastifyBaseLogger = logger
  const watch = watchOf(parts)
  const finalResponses = { nextRequestId, onRefused: watch?.refused }

  const app: FastifyInstance = Fastify({
    loggerInstance: baseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: nextRequestId,
    bodyLimit: limits.maxBody,
    keepAliveTimeout: limits.keepAliveTimeout,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true },
    // No route has a schema of Fastify's: bodies are judged by `contract`, and answers are texts. What would compile one takes a
    // tenth of a start to load.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // RFC 9112, section 3.2.2: a server accepts the absolute form of a request's target.
    rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?#@]+(?=[/?]|$)/i, '') || '/',
    http: {
      maxHeaderSize: limits.maxHeader,
      headersTimeout: limits.headersTimeout,
      // How often Node looks for requests that are late.
      connectionsCheckingInterval: 1000,
      // Answered below in the shape of every other error.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => sendProtocolError(error, socket, finalResponses),
    frameworkErrors: (_error, request, reply) => {
      const response = () => {
        setCommonHeaders(reply, request.id)
        closeOnAmbiguousFraming(request.raw, reply.raw)
        void sendFault(new Fault('malformed_request', 'The path is not valid'), request, reply)
      }
      if (watch === undefined) response()
      else watch.begin(new FastifyTrackedRequest(request, reply), response)
    },
  })
  // One logger for all: a child for each request costs more than the requests that log are worth.
  app.setChildLoggerFactory(() => logger)
  leaveBodiesUnread(app)
  const fastPath = new FastPath(app, { nextRequestId, isDraining, logger, watch })
  refuseUnusualRequests(app.server, finalResponses)
  refuseUpgrades(app.server)
  enforceRequestTimeout(app.server, limits.requestTimeout, (socket) =>
    sendProtocolError(requestTimeout(), socket, finalResponses),
  )
  closeIdleConnections(app.server, limits.keepAliveTimeout + limits.headersTimeout)
  const loadShedder = new LoadShedder(app.server, {
    ...finalResponses,
    clock,
    onWait: watch?.waits,
    onLeft: watch?.left,
  })
  app.decorate('loadShedder', loadShedder)
  // Node drops the headers beyond its limit without a word; the limit on their size is enough.
  app.server.maxHeadersCount = 0

  app.setErrorHandler(sendFault)
  app.setNotFoundHandler(() => {
    throw nothingHere()
  })
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: [method].flat() })
  })
  if (watch !== undefined) {
    app.addHook('onRequest', (request, reply, done) =>
      watch.begin(new FastifyTrackedRequest(request, reply), done),
    )
    app.addHook('onSend', ({ raw }, _reply, _payload, done) => {
      watch.markResponding(raw)
      done()
    })
  }
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(reply, request.id)
    if (isDraining()) reply.header('connection', 'close')
    validateRequest(request.raw, reply.raw)
    if (!request.is404) return done()
    const path = request.url.replace(/\?.*/s, '').replace(/(.)\/$/, '$1')
    const methods = [...new Set(routes.flatMap((route) => (route.pattern.test(path) ? route.methods : [])))]
    if (methods.length === 0) throw nothingHere()
    reply.header('allow', methods.join(', '))
    throw new Fault('method_not_allowed', `This path allows ${methods.join(', ')}`)
  })
  app.decorateRequest('call', undefined)
  app.decorateRequest('faultCode', undefined)
  app.decorateRequest('traceIds', undefined)
  const authentication = { store, clock, lastUsedTracker, cacheMs: limits.apiTokenCache }
  const fastPathOptions = {
    authentication,
    rateLimiter,
    userGroups,
    responses: new ResponseCache(store),
    bodies: { loadShedder, bodyLimit: limits.maxBody },
  }
  fastPath.add(app, userRoute(fastPathOptions))
  fastPath.add(app, introspectionRoute({ ...fastPathOptions, introspections }))
  const sessions = new ConsoleSessions({ store, clock, lastUsedTracker })
  const management = managementOf(parts)
  addAdminRoutes(app, { authentication, rateLimiter, sessions, userGroups, ...management })
  if (parts.consoleFolder !== null) {
    const { apiTokens } = management
    const folder = parts.consoleFolder
    await app.register((console) => addConsoleRoutes(console, { sessions, apiTokens, folder }))
  }
  addHealthRoutes(app, { store, isDraining })
  await app.register((docs) => addDocsRoutes(docs, openApiDocument(parts.version)))
  return app
}

/** What a route's path matches: `:name` is one step, of a pattern where it has one, and `*` all the rest. */
function patternOf(url: string): RegExp {
  const special = /:\w+(?:\(\^(.*?)\$\))?|[*.+?^${}()|[\]\\]/g
  const pattern = url.replaceAll(special, (found, step: string | undefined) =>
    found === '*' ? '.*' : found.startsWith(':') ? (step ?? '[^/]+') : `\\${found}`,
  )
  return new RegExp(`^${pattern}$`)
}

/** Where nobody watches calls, nothing is done for it. */
function watchOf({ accessLog: log, requestObserver, tracer }: AppDependencies): RequestTracker | undefined {
  const observers = [log && accessLog(log.logger, log.share), requestObserver].filter((one) => one !== null)
  return observers.length === 0 && tracer === null ? undefined : new RequestTracker(observers, tracer)
}

function managementOf({ store, userGroups, clock }: AppDependencies) {
  return {
    management: new UserGroupManagement({ store, userGroups, clock }),
    promotion: new Promotion({ store, userGroups }),
    apiTokens: new ApiTokenManagement({ store, clock }),
    dataSources: new DataSourceManagement({ store, clock }),
    auditLog: new AuditLog({ store, clock }),
  }
}

function noSchemas(): never {
  throw new Error('a route has a schema of Fastify')
}

function nothingHere(): Fault {
  return new Fault('not_found', 'There is nothing at this path')
}

/** Request ids that no other process gives out: some random characters of its own, then a counter. */
function requestIds(): () => string {
  const process = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${process}-${(count++).toString(36)}`
}
