import type { FastifyInstance } from 'fastify'
import type { ChallengeOf, ErrorResponses } from '../error-response.ts'
import { contextOf, type RequestContext } from '../request-context.ts'
import type { Next, Stage } from '../server/stage.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route that handles the request instead of Fastify. */
    fastPathRoute?: FastPathRoute
  }
}

/** A route that bypasses Fastify, because every view of a dashboard sends it a request (decision 0024). */
export interface FastPathRoute {
  readonly methods: readonly string[]
  readonly url: string
  readonly challenge: ChallengeOf
  /** Resolves with the JSON of a response with status 200, or throws a Fault. */
  readonly serve: (context: RequestContext) => Promise<string>
}

/** Handles requests to some routes without Fastify's router, hooks and reply. */
export class FastPath implements Stage {
  readonly #routes: ReadonlyMap<string | undefined, FastPathRoute>
  readonly #errors: ErrorResponses

  constructor(routes: readonly FastPathRoute[], errors: ErrorResponses) {
    this.#routes = new Map(routes.map((route) => [route.url, route]))
    this.#errors = errors
  }

  handle(context: RequestContext, next: Next): void {
    const { url, method = '' } = context.raw
    const route = this.#routes.get(url)
    if (route?.methods.includes(method)) void this.#serve(route, context)
    else next(context)
  }

  /** Adds the routes to Fastify, which recognizes other spellings of their paths, such as one with a trailing slash. */
  addRoutes(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      const { fastPathRoute } = request.routeOptions.config
      if (fastPathRoute === undefined) return done()
      reply.hijack()
      void this.#serve(fastPathRoute, contextOf(request.raw))
    })
    for (const route of this.#routes.values()) {
      const { methods, url } = route
      app.route({ method: [...methods], url, config: { fastPathRoute: route }, handler: (_, reply) => reply })
    }
  }

  async #serve(route: FastPathRoute, context: RequestContext): Promise<void> {
    context.path = route.url
    let response: { readonly status: number; readonly json: string }
    try {
      response = { status: 200, json: await route.serve(context) }
    } catch (error) {
      response = this.#errors.responseTo(error, context, context, route.challenge)
    }
    context.send(response.status, response.json)
  }
}
