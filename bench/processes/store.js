// The store alone, without HTTP and without opening tokens: as many callers as the load has connections, each with one
// call after another, in the shape of the service's. One round a message; tells the parent process what came of it.
import { readConfig } from '../../server/dist/config.js'
import { generateSecretKey, Keyring } from '../../server/dist/domain/keyring.js'
import { generateToken, hashToken } from '../../server/dist/domain/token.js'
import { sealingContext } from '../../server/dist/domain/user-group.js'
import { openConfiguredStore } from '../../server/dist/parts.js'
import { changeOf } from '../lib/bodies.js'
import { idAt, indexes, shares } from '../lib/ids.js'
import { connections } from '../lib/load.js'
import { percentiles } from '../lib/statistics.js'
import { answerEach } from '../lib/worker.js'

/**
 * @typedef {object} StoreLoad
 * @property {string} url
 * @property {import('../lib/bodies.js').BodySize} size
 * @property {import('../lib/ids.js').Ids} ids
 * @property {'random' | 'once'} order
 * @property {number} seconds
 * @property {'created' | 'unchanged'} expected what each call must come to
 */

/**
 * @typedef {object} StoreResult
 * @property {number} calls
 * @property {number} failures
 * @property {number} seconds
 * @property {number} p50 milliseconds
 * @property {number} p99 milliseconds
 */

const keyring = new Keyring([generateSecretKey('bench')])

/** @type {import('../../server/dist/domain/store.js').MintToken} */
function mintToken(key) {
  const token = generateToken('userGroup', key.environment)
  return { hash: hashToken(token), ...keyring.seal(token, sealingContext(key)) }
}

/** @type {Promise<import('../../server/dist/domain/store.js').Store> | undefined} */
let opened

/**
 * @param {StoreLoad} load
 * @returns {Promise<StoreResult>}
 */
async function run({ url, size, ids, order, seconds, expected }) {
  opened ??= openConfiguredStore(readConfig({ DATABASE_URL: url }))
  const store = await opened
  const change = changeOf(size)
  /** @type {number[]} */
  const latencies = []
  let failures = 0
  const started = performance.now()
  let finished = started
  const end = started + seconds * 1000
  await Promise.all(
    shares(ids, connections).map(async (share) => {
      const nextIndex = indexes(share, order)
      for (let sent = started; sent < end; sent = finished) {
        const index = nextIndex()
        if (index === undefined) return
        const { outcome } = await store.getOrCreateUserGroup({
          key: { workspaceId: 1, environment: 'Testing', providedId: idAt(share, index) },
          change,
          mayWrite: true,
          mintToken,
          author: 'api_token:1',
          requestId: 'k3Jf81Qz-2s',
          now: Date.now(),
        })
        finished = performance.now()
        if (outcome === expected) latencies.push(finished - sent)
        else failures++
      }
    }),
  )
  return {
    calls: latencies.length,
    failures,
    seconds: (finished - started) / 1000,
    ...percentiles(latencies),
  }
}

answerEach((load) => run(/** @type {StoreLoad} */ (load)))
