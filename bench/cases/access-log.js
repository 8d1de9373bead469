import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { knownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/**
 * What the access log costs the call that there are most of.
 * @type {import('../run.js').Case}
 */
export async function accessLog() {
  const servers = []
  for (const share of ['off', '0.01', 'full'])
    servers.push({
      name: share,
      server: await startService(undefined, [], [], { UGS_ACCESS_LOG: share }),
    })
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
      title: `UGS_ACCESS_LOG; GET of user groups that stay as they are (body of ${bodySizes[size]}), ${connections} connections`,
      ...(await compare(contestants, { baselines: ['off'] })),
    }
  } finally {
    for (const { server } of servers) await server.stop()
  }
}
