import type { FastifyInstance } from 'fastify'

/**
 * Accepts the connections in the queue of the operating system before the server stops listening, which resets them. Stops
 * listening after an event-loop iteration without a connection or request: the next connection is unlikely to wait already.
 * @param maxDelayMs maximum delay of the end of listening, in milliseconds
 */
export function acceptWaitingConnections(app: FastifyInstance, maxDelayMs = 500): void {
  app.addHook('preClose', (done) => {
    const until = performance.now() + maxDelayMs
    let isQuiet = false
    const disturb = () => (isQuiet = false)
    app.server.on('connection', disturb).on('request', disturb)
    const check = () => {
      if (isQuiet || performance.now() > until) done()
      else {
        isQuiet = true
        setImmediate(check)
      }
    }
    check()
  })
}
