import type { FastifyInstance } from 'fastify'
import { checkReadiness, type ReadinessDependencies } from '../../domain/readiness.ts'
import { sendJson } from '../response.ts'

/** Adds `/healthz`, by which a supervisor decides on restarts, and `/readyz`, by which a load balancer decides on traffic. */
export function addHealthRoutes(app: FastifyInstance, dependencies: ReadinessDependencies): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/healthz',
    handler: (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'),
  })

  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    handler: async (_request, reply) => {
      const status = await checkReadiness(dependencies)
      return sendJson(reply, 200, JSON.stringify({ status }))
    },
  })
}
