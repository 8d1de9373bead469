import { createServer } from 'node:http'
import { compareSettings } from '../lib/compare-settings.js'

/**
 * Measures the cost of traces per request, with a collector that discards them.
 * @type {import('../run.js').Case}
 */
export async function traces() {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise((resolve) => collector.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (collector.address())
  const on = { UGS_TRACES: 'on', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
  try {
    return await compareSettings('UGS_TRACES', {
      off: {},
      '0.01 of the requests': {
        ...on,
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
      },
      'all requests': on,
    })
  } finally {
    collector.closeAllConnections()
    collector.close()
  }
}
