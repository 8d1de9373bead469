import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenError } from '../../domain/util/listen-error.ts'
import { listeningUrl, ownAddress } from '../../http/server/listening.ts'

export interface MetricsServer {
  /** URL of the metrics, for example `http://127.0.0.1:9464/metrics`. */
  readonly url: string
  readonly close: () => Promise<void>
}

export interface MetricsServerOptions {
  readonly host: string
  readonly port: number
  /** Returns the metrics in Prometheus' text format. */
  readonly read: () => Promise<string>
}

/** Maximum time for a request to arrive, in milliseconds. */
const requestTimeoutMs = 5000

/**
 * Serves metrics on a separate port: they have another audience than the API, and are available while the service starts and
 * stops.
 * @throws OperatorError
 */
export async function serveMetrics({ host, port, read }: MetricsServerOptions): Promise<MetricsServer> {
  const timeouts = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }
  const server = createServer(timeouts, ({ url, method }, response) => {
    const send = (status: number, text: string, headers: Record<string, string> = {}) => {
      response
        .writeHead(status, {
          'content-type': 'text/plain; charset=utf-8',
          'cache-control': 'no-store',
          ...headers,
        })
        .end(text)
    }
    if (url?.replace(/\?.*/s, '') !== '/metrics') send(404, 'The metrics are at /metrics.\n')
    else if (method !== 'GET' && method !== 'HEAD') {
      send(405, 'This path allows GET, HEAD.\n', { allow: 'GET, HEAD' })
    } else {
      read().then(
        (text) => send(200, text, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
        () => send(500, 'The metrics cannot be read.\n'),
      )
    }
  })
  try {
    server.listen({ host: await ownAddress(host), port })
    await once(server, 'listening')
  } catch (error) {
    throw listenError(error, { host: 'UGS_METRICS_HOST', port: 'UGS_METRICS_PORT' })
  }
  return {
    url: `${listeningUrl(server.address() as AddressInfo)}/metrics`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
