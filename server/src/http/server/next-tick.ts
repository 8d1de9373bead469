import { executionAsyncResource } from 'node:async_hooks'
import type { Server } from 'node:http'

/** Interval of the renewals, in milliseconds. */
const intervalMs = 1000

/** The object in which Node.js queued the last renewal, by server. */
const kept = new Map<Server, object>()

/**
 * Keeps `process.nextTick` fast by keeping one of its objects alive (decision 0010). V8 frees the hidden class of these objects if none
 * exists during some garbage collections, for example while the service is idle. From then on, each of them costs a call into V8 per
 * property. An object from the start is not always enough, so it is renewed.
 */
export const keepNextTickFast = {
  attach(server: Server) {
    const renew = () => process.nextTick(() => kept.set(server, executionAsyncResource()))
    renew()
    const timer = setInterval(renew, intervalMs).unref()
    server.once('close', () => {
      clearInterval(timer)
      kept.delete(server)
    })
  },
}
