import { createServer } from 'node:http'
import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { knownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/**
 * What traces cost the call that there are most of, with a collector that drops what it gets.
 * @type {import('../run.js').Case}
 */
export async function traces() {
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise((resolve) => collector.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (collector.address())
  const on = { UGS_TRACES: 'on', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
  const sampling = { ...on, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }
  const servers = []
  for (const [name, settings] of /** @type {const} */ ([
    ['off', {}],
    ['0.01 of the calls', { ...sampling, OTEL_TRACES_SAMPLER_ARG: '0.01' }],
    ['all calls', on],
  ]))
    servers.push({ name, server: await startService(undefined, [], [], settings) })
  try {
    for (const { server } of servers) await createGroups(server, size, knownIds)
    const contestants = servers.map(({ name, server }) => ({
      name,
      round: async () =>
        httpFigures(
          await loadRound(server, {
            ...{ size, ids: knownIds, order: /** @type {const} */ ('random'), seconds: 3 },
            expected: '"new_user_group":false',
          }),
        ),
    }))
    return {
      title: `UGS_TRACES; GET of user groups that stay as they are (body of ${bodySizes[size]}), ${connections} connections`,
      ...(await compare(contestants, { baselines: ['off'] })),
    }
  } finally {
    for (const { server } of servers) await server.stop()
    collector.closeAllConnections()
    collector.close()
  }
}
