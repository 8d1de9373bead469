import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { RequestTracker } from '../server/request-lifecycle.ts'
import { validateRequest } from '../server/request-validation.ts'
import { prependRequestListener } from '../server/prepend-listener.ts'
import { FastPathContext } from './fast-path-context.ts'
import { failureResponse } from '../error-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route that serves the request in place of Fastify. */
    fastPathRoute?: FastPathRoute
  }
}

/** A route that is called for every view of a dashboard, and so is served past Fastify (decision 0024). */
export interface FastPathRoute {
  readonly methods: readonly string[]
  readonly url: string
  /** What a caller without a valid API token is told of how to send one. */
  readonly challenge: string
  /** Resolves with the JSON text to answer with status 200; what it throws is answered as an error. */
  readonly serve: (context: FastPathContext) => Promise<string>
}

export interface FastPathOptions {
  readonly nextRequestId: () => string
  readonly isDraining: () => boolean
  readonly logger: Pick<FastifyBaseLogger, 'error'>
  readonly watch: RequestTracker | undefined
}

/** Serves some routes before Fastify sees the request, where it is written as it is documented; in other spellings after it. */
export class FastPath {
  readonly #routes = new Map<string | undefined, FastPathRoute>()
  readonly #options: FastPathOptions

  /** Comes before what handles the requests of a server so far. */
  constructor(app: FastifyInstance, options: FastPathOptions) {
    this.#options = options
    const handleOthers = prependRequestListener(app.server, (request, response) => {
      const route = this.#routes.get(request.url)
      if (route?.methods.includes(request.method ?? '')) {
        this.#serve(route, options.nextRequestId(), request, response)
      } else handleOthers(request, response)
    })
    app.addHook('onRequest', (request, reply, done) => {
      const { fastPathRoute } = request.routeOptions.config
      if (fastPathRoute === undefined) return done()
      reply.hijack()
      this.#serve(fastPathRoute, request.id, request.raw, reply.raw)
    })
  }

  add(app: FastifyInstance, route: FastPathRoute): void {
    this.#routes.set(route.url, route)
    app.route({
      method: [...route.methods],
      url: route.url,
      config: { fastPathRoute: route },
      handler: (_request, reply) => reply,
    })
  }

  #serve(route: FastPathRoute, id: string, request: IncomingMessage, response: ServerResponse): void {
    const context = new FastPathContext(id, route.url, request, response)
    const { watch } = this.#options
    if (watch === undefined) void this.#run(route, context)
    else watch.begin(context, () => void this.#run(route, context))
  }

  async #run(route: FastPathRoute, context: FastPathContext): Promise<void> {
    const { isDraining, logger, watch } = this.#options
    let response: { readonly status: number; readonly json: string }
    try {
      if (isDraining()) context.header('Connection', 'close')
      validateRequest(context.raw, context.response)
      response = { status: 200, json: await route.serve(context) }
    } catch (error) {
      response = failureResponse(error, context, context, { logger, challenge: route.challenge })
    }
    watch?.markResponding(context.raw)
    context.send(response.status, response.json)
  }
}
