import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { CallWatch } from '../server/request-lifecycle.ts'
import { checkMessage } from '../server/request-validation.ts'
import { comeFirst } from '../server/prepend-listener.ts'
import { Exchange } from './fast-path-context.ts'
import { failureAnswer } from '../error-response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route that serves the request in place of Fastify. */
    direct?: DirectRoute
  }
}

/** A route that is called for every view of a dashboard, and so is served past Fastify (decision 0024). */
export interface DirectRoute {
  readonly methods: readonly string[]
  readonly url: string
  /** What a caller without a valid API token is told of how to send one. */
  readonly challenge: string
  /** Resolves with the JSON text to answer with status 200; what it throws is answered as an error. */
  readonly serve: (exchange: Exchange) => Promise<string>
}

export interface DirectRoutesOptions {
  readonly nextRequestId: () => string
  readonly isDraining: () => boolean
  readonly logger: Pick<FastifyBaseLogger, 'error'>
  readonly watch: CallWatch | undefined
}

/** Serves some routes before Fastify sees the request, where it is written as it is documented; in other spellings after it. */
export class DirectRoutes {
  readonly #routes = new Map<string | undefined, DirectRoute>()
  readonly #options: DirectRoutesOptions

  /** Comes before what handles the requests of a server so far. */
  constructor(app: FastifyInstance, options: DirectRoutesOptions) {
    this.#options = options
    const handleOthers = comeFirst(app.server, (request, response) => {
      const route = this.#routes.get(request.url)
      if (route?.methods.includes(request.method ?? '')) {
        this.#serve(route, options.nextRequestId(), request, response)
      } else handleOthers(request, response)
    })
    app.addHook('onRequest', (request, reply, done) => {
      const { direct } = request.routeOptions.config
      if (direct === undefined) return done()
      reply.hijack()
      this.#serve(direct, request.id, request.raw, reply.raw)
    })
  }

  add(app: FastifyInstance, route: DirectRoute): void {
    this.#routes.set(route.url, route)
    app.route({
      method: [...route.methods],
      url: route.url,
      config: { direct: route },
      handler: (_request, reply) => reply,
    })
  }

  #serve(route: DirectRoute, id: string, request: IncomingMessage, response: ServerResponse): void {
    const exchange = new Exchange(id, route.url, request, response)
    const { watch } = this.#options
    if (watch === undefined) void this.#run(route, exchange)
    else watch.begin(exchange, () => void this.#run(route, exchange))
  }

  async #run(route: DirectRoute, exchange: Exchange): Promise<void> {
    const { isDraining, logger, watch } = this.#options
    let answer: { readonly status: number; readonly json: string }
    try {
      if (isDraining()) exchange.header('Connection', 'close')
      checkMessage(exchange.raw, exchange.response)
      answer = { status: 200, json: await route.serve(exchange) }
    } catch (error) {
      answer = failureAnswer(error, exchange, exchange, { logger, challenge: route.challenge })
    }
    watch?.answers(exchange.raw)
    exchange.answer(answer.status, answer.json)
  }
}
