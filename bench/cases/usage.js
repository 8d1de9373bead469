import { compare } from '../lib/compare.js'
import { startService } from '../lib/service.js'
import { prepareViews } from './viewer-sessions.js'

const modes = ['off', 'user_groups', 'viewers']

/**
 * Compares the CPU of introspections by what `UGS_USAGE` records.
 * @type {import('../run.js').Case}
 */
export async function usage() {
  const services = await Promise.all(
    modes.map((mode) => startService(undefined, [], [], { UGS_USAGE: mode })),
  )
  const prepared = await Promise.all(services.map(prepareViews))
  try {
    const contestants = prepared.flatMap(({ ofTokens, ofSessions }, i) => [
      {
        name: `user group token, ${modes[i]}`,
        round: ofTokens,
        against: i === 0 ? [] : ['user group token, off'],
      },
      {
        name: `viewer session, ${modes[i]}`,
        round: ofSessions,
        against: i === 0 ? [] : ['viewer session, off'],
      },
    ])
    return { title: 'Introspection by UGS_USAGE', ...(await compare(contestants)) }
  } finally {
    for (const { end } of prepared) end()
    for (const service of services) await service.stop()
  }
}
