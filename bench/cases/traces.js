import { createServer } from 'node:http'
import { compareSettings } from '../lib/compare-settings.js'

/**
 * What traces cost a call, with a collector that drops what it gets.
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
      '0.01 of the calls': {
        ...on,
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
      },
      'all calls': on,
    })
  } finally {
    collector.closeAllConnections()
    collector.close()
  }
}
