import { bodyOf, bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { idAt, knownIds } from '../lib/ids.js'
import { loadRound } from '../lib/load.js'
import { startDatabase } from '../lib/postgres.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
const seconds = 3

/** @type {import('../run.js').Case} */
export const introspect = () => besideGet(undefined)

/** @type {import('../run.js').Case} */
export async function postgresIntrospect() {
  const database = await startDatabase()
  try {
    return await besideGet(database.url)
  } finally {
    await database.stop()
  }
}

/**
 * Introspection beside GET of the same user groups, on one service.
 * @param {string | undefined} databaseUrl
 * @returns {Promise<import('../run.js').Report>}
 */
async function besideGet(databaseUrl) {
  const service = await startService(databaseUrl)
  try {
    // One of the two entries of the mapping names something.
    const options = ['--environment', 'Testing', '--name', 'A', '--provided-id']
    await service.ugs('schema', 'create', ...options, '40')
    await service.ugs('data-source', 'create', '--schema', '1', ...options, '213')
    await createGroups(service, size, knownIds)
    const tokens = await tokensOf(service)
    const renderer = { ...service, token: await service.makeToken('introspect') }
    const load = /** @type {const} */ ({ size, ids: knownIds, order: 'random', seconds })
    const get = 'GET of an unchanged user group'
    const report = await compare(
      [
        {
          name: get,
          round: async () =>
            httpFigures(await loadRound(service, { ...load, expected: '"new_user_group":false' })),
        },
        {
          name: 'introspection',
          round: async () =>
            httpFigures(await loadRound(renderer, { ...load, tokens, expected: '"active":true' })),
        },
      ],
      { baselines: [get] },
    )
    return {
      title: `Introspection beside GET of the same user groups (body of ${bodySizes[size]})`,
      ...report,
    }
  } finally {
    await service.stop()
  }
}

/**
 * @param {import('../lib/service.js').Server} service
 * @returns {Promise<string[]>} of the user groups of `knownIds`, in their order
 */
async function tokensOf({ origin, token }) {
  /** @type {string[]} */
  const tokens = []
  for (let i = 0; i < knownIds.count; i++) {
    const answer = await fetch(`${origin}/api/user`, {
      method: 'POST',
      headers: {
        authorization: `Token ${token}`,
        'content-type': 'application/json',
        'x-http-method-override': 'GET',
      },
      body: bodyOf(size, idAt(knownIds, i)),
    })
    /** @type {{ user_group: { token: string } }} */
    const { user_group } = JSON.parse(await answer.text())
    tokens.push(user_group.token)
  }
  return tokens
}
