import type { FastifyInstance } from 'fastify'
import { checkReadiness, type ReadinessDependencies } from '../../domain/readiness.ts'
import { sendJson } from '../response.ts'

/** For a supervisor (`/healthz`: restart me if this fails) and a load balancer (`/readyz`: send me requests). */
export function addHealthRoutes(app: FastifyInstance, parts: ReadinessDependencies): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/healthz',
    handler: (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'),
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    handler: async (_request, reply) => {
      await checkReadiness(parts)
      return sendJson(reply, 200, '{"status":"ready"}')
    },
  })
}
