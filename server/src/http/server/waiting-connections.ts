import type { FastifyInstance } from 'fastify'

/** Maximum delay of the end of listening, in milliseconds. */
const maxDelayMs = 500

/**
 * Accepts the connections in the queue of the operating system before the server stops listening, which resets them. Stops
 * listening after an event-loop iteration without a connection or request: the next connection is unlikely to wait already.
 */
export function acceptWaitingConnections(app: FastifyInstance): void {
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
