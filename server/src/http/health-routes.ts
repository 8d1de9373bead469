import type { FastifyInstance } from 'fastify'
import { Fault } from '../domain/fault.ts'
import type { Store } from '../domain/store.ts'
import { sendJson } from './answer.ts'

export interface HealthRoutesParts {
  readonly store: Pick<Store, 'ping'>
  readonly isDraining: () => boolean
}

/** For a supervisor (`/healthz`: restart me if this fails) and a load balancer (`/readyz`: send me requests). */
export function addHealthRoutes(app: FastifyInstance, { store, isDraining }: HealthRoutesParts): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/healthz',
    handler: (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'),
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    handler: async (_request, reply) => {
      if (isDraining()) throw new Fault('unavailable', 'The service is stopping')
      await store.ping()
      return sendJson(reply, 200, '{"status":"ready"}')
    },
  })
}
