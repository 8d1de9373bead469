import { bodySizes } from './bodies.js'
import { compare, httpFigures } from './compare.js'
import { knownIds } from './ids.js'
import { connections, loadRound } from './load.js'
import { createGroups } from './seed.js'
import { startService } from './service.js'

/** @type {import('./bodies.js').BodySize} */
const size = 'typical'

/**
 * Measures the cost of settings for the most frequent request, an unchanged GET.
 * @param {string} setting
 * @param {Record<string, Record<string, string>>} settings by name; the first is the baseline
 * @returns {ReturnType<import('../run.js').Case>}
 */
export async function compareSettings(setting, settings) {
  const servers = []
  for (const [name, environment] of Object.entries(settings))
    servers.push({ name, server: await startService(undefined, [], [], environment) })
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
      title: `${setting}; unchanged GET (body of ${bodySizes[size]}), ${connections} connections`,
      ...(await compare(contestants, { baselines: Object.keys(settings).slice(0, 1) })),
    }
  } finally {
    for (const { server } of servers) await server.stop()
  }
}
