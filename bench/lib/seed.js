import { loadRound } from './load.js'

/** More than any of the benchmarks needs; what is not created then is missed later. */
const seconds = 120

/**
 * Creates the user groups that a load asks for, as any client would.
 * @param {import('./service.js').Server} service
 * @param {import('./bodies.js').BodySize} size
 * @param {import('./ids.js').Ids} ids
 */
export async function createGroups(service, size, ids) {
  await loadRound(service, { size, ids, order: 'once', seconds, expected: '"new_user_group":true' })
}
