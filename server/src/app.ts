import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
} from 'fastify'
import type { Logger } from 'pino'
import type { ApiToken } from './domain/api-token/api-token.ts'
import type { LastUsedRecorder } from './domain/api-token/last-used-tracker.ts'
import type { RateLimiter } from './domain/api-token/rate-limiter.ts'
import type { EventFeed } from './domain/event/event-feed.ts'
import { Fault } from './domain/fault.ts'
import { ConsoleSessions } from './domain/console-session/console-sessions.ts'
import type { Store } from './domain/store.ts'
import type { Look, UsageMode } from './domain/usage/look.ts'
import type { MarkRecorder } from './domain/usage/mark-recorder.ts'
import { PostedMarks } from './domain/usage/posted-marks.ts'
import type { UserGroupService } from './domain/user-group/user-group-service.ts'
import type { ViewerSessions } from './domain/viewer-session/viewer-sessions.ts'
import type { WebhookManagement } from './domain/webhook/webhook-management.ts'
import type { Clock } from './domain/util/clock.ts'
import { addAdminRoutes } from './http/admin/routes.ts'
import { adminServicesOf } from './http/admin/services.ts'
import {
  addConsoleRoutes,
  redirectBrowsers,
  type ConsoleRoutesDependencies,
} from './http/console/console-routes.ts'
import { SessionCookies } from './http/console/console-session.ts'
import { addEventRoutes } from './http/events/event-routes.ts'
import { addDocsRoutes } from './http/docs/docs-routes.ts'
import { openApiDocument } from './http/docs/openapi-document.ts'
import type { AuthenticationThrottle } from './http/authentication-throttle.ts'
import { ErrorResponses, sendRefusal } from './http/error-response.ts'
import { addHealthRoutes } from './http/health/health-routes.ts'
import { publicPathOf } from './http/public-url.ts'
import { createPipeline, type PipelineOptions } from './http/pipeline.ts'
import { leaveBodiesUnread } from './http/request-body.ts'
import { contextOf } from './http/request-context.ts'
import { setCommonHeaders } from './http/response.ts'
import { acceptWaitingConnections } from './http/server/waiting-connections.ts'
import { refuseUnknownRoutes } from './http/server/unknown-routes.ts'
import { FastPath, type FastPathRoute } from './http/user/fast-path.ts'
import { addForwardAuthRoute, type ForwardAuthNames } from './http/oauth/forward-auth-route.ts'
import { Introspections } from './http/oauth/introspections.ts'
import { introspectionRoute } from './http/oauth/introspection-route.ts'
import { addKeySetRoute } from './http/oauth/key-set-route.ts'
import { addMetadataRoute } from './http/oauth/metadata-route.ts'
import { OAuthClients } from './http/oauth/oauth-clients.ts'
import { revocationRoute } from './http/oauth/revocation-route.ts'
import { addUsageRoute } from './http/usage/usage-route.ts'
import { ResponseCache } from './http/user/response-cache.ts'
import { userRoutes } from './http/user/user-route.ts'

export interface AppDependencies extends Pick<PipelineOptions, 'observers' | 'tracer' | 'isDraining'> {
  readonly store: Store
  /** The store for management (`fairStore`). */
  readonly managementStore: Store
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly webhooks: WebhookManagement
  readonly introspections: LastUsedRecorder<Look>
  readonly marks: MarkRecorder
  readonly usageMode: UsageMode
  readonly feed: EventFeed
  readonly lastUsedTracker: LastUsedRecorder<Pick<ApiToken, 'id'>>
  readonly rateLimiter: RateLimiter
  readonly throttle: AuthenticationThrottle
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: PipelineOptions['limits'] & {
    /** Maximum size of a request body, in bytes. */
    readonly maxBody: number
    /** Time that a looked-up API token is trusted, in milliseconds. */
    readonly apiTokenCache: number
    /** Maximum number of connections to `/events`. */
    readonly eventConnections: number
    /** Maximum size of the response cache, in bytes; 0 turns it off. */
    readonly responseCache: number
  }
  readonly version: string
  readonly forwardAuth: ForwardAuthNames
  /** URL of the service for its clients; null for the origin of each request. */
  readonly publicUrl: string | null
  readonly people: Pick<ConsoleRoutesDependencies, 'provider' | 'allowsTokenSignIn'>
  /** Folder of the built files of console and API reference. */
  readonly consoleFolder: string
  readonly hasConsole: boolean
}

/** Builds the application: the pipeline, then every route in order. It does not listen and does not read the environment. */
export async function buildApp(parts: AppDependencies): Promise<FastifyInstance> {
  const { store, lastUsedTracker, rateLimiter, clock, logger, limits, isDraining } = parts
  const revokedIds = new Set<number>()
  const authentication = { store, clock, lastUsedTracker, cacheMs: limits.apiTokenCache, revokedIds }
  const errors = new ErrorResponses(logger, parts.throttle)
  const responses = new ResponseCache(store, limits.responseCache, clock)
  const introspections = new Introspections({ ...parts, responses })
  const fastPath = new FastPath(fastPathRoutes(parts, { authentication, responses, introspections }), errors)
  const pipelineOptions = { ...parts, fastPath }
  const baseLogger: FastifyBaseLogger = logger
  const app: FastifyInstance = Fastify({
    ...fastifyOptions,
    loggerInstance: baseLogger,
    bodyLimit: limits.maxBody,
    serverFactory: (handleRequest) => createPipeline(pipelineOptions, handleRequest),
  })
  // One logger for all requests: a child logger for each costs too much.
  app.setChildLoggerFactory(() => logger)
  leaveBodiesUnread(app)
  acceptWaitingConnections(app)
  app.setErrorHandler(errors.send)
  app.addHook('onClose', (_app, done) => {
    errors.close()
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    const context = contextOf(request.raw)
    context.path = documentedPath(request.routeOptions.url)
    context.reply = reply
    setCommonHeaders(reply, context.id)
    done()
  })
  const pages = { folder: parts.consoleFolder, publicPath: publicPathOf(parts.publicUrl) }
  if (parts.hasConsole) redirectBrowsers(app, pages.publicPath)
  refuseUnknownRoutes(app)

  fastPath.addRoutes(app)
  const maxConnections = limits.eventConnections
  addEventRoutes(app, { authentication, rateLimiter, feed: parts.feed, clock, maxConnections })
  const postedMarks = new PostedMarks({ ...parts, mode: parts.usageMode })
  addUsageRoute(app, { authentication, rateLimiter, postedMarks })
  const consoleSessions = new ConsoleSessions({ store, clock, lastUsedTracker })
  const access = { consoleSessions, cookies: new SessionCookies(pages.publicPath) }
  const services = adminServicesOf({ ...parts, store: parts.managementStore, revokedIds })
  addAdminRoutes(app, { authentication, rateLimiter, ...access, ...services })
  if (parts.hasConsole) {
    const { publicUrl, people } = parts
    const consoleParts = { ...access, ...pages, ...people, publicUrl, apiTokens: services.apiTokens }
    await app.register((console) => addConsoleRoutes(console, consoleParts))
  }
  const names = parts.forwardAuth
  addForwardAuthRoute(app, { authentication, rateLimiter, introspections, names })
  addMetadataRoute(app, parts.publicUrl)
  addKeySetRoute(app, parts.viewerSessions.keys)
  addHealthRoutes(app, { store, isDraining })
  const document = () => openApiDocument(parts.version, parts.publicUrl ?? undefined)
  await app.register((docs) => addDocsRoutes(docs, { ...pages, document }))
  return app
}

const fastifyOptions = {
  logController: new LogController({ disableRequestLogging: true }),
  genReqId: (request) => contextOf(request).id,
  return503OnClosing: false,
  exposeHeadRoutes: false,
  routerOptions: { ignoreTrailingSlash: true },
  // `contract` validates requests, and responses are texts. Loading Fastify's schema compilers takes a tenth of the start.
  schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  // The pipeline handles client errors.
  clientErrorHandler: () => undefined,
  frameworkErrors: (_error, request, reply) => {
    reply.hijack()
    sendRefusal(contextOf(request.raw), new Fault('malformed_request', 'The path is not valid'))
  },
} satisfies FastifyServerOptions

function fastPathRoutes(
  { userGroups, viewerSessions, feed, rateLimiter, limits }: AppDependencies,
  parts: Pick<Parameters<typeof userRoutes>[0], 'authentication' | 'responses'> & {
    readonly introspections: Introspections
  },
): FastPathRoute[] {
  const shared = { ...parts, rateLimiter, userGroups, viewerSessions, bodyLimit: limits.maxBody }
  const clients = new OAuthClients(shared)
  return [
    ...userRoutes(shared),
    introspectionRoute({ ...shared, clients, feed }),
    revocationRoute({ clients, userGroups, viewerSessions }),
  ]
}

/** Returns the path of a Fastify route with `{name}` for parameters, as the API reference has it. */
function documentedPath(url: string | undefined): string | null {
  return url?.replaceAll(/:(\w+)(?:\(\^.*?\$\))?/g, '{$1}') ?? null
}

function noSchemas(): never {
  throw new Error('A route has a Fastify schema')
}
