import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bodySizes } from '../lib/bodies.js'
import { loadRound } from '../lib/load.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

const rounds = 5
const script = fileURLToPath(new URL('../processes/json-reading.js', import.meta.url))

/**
 * What reading JSON strictly costs on the hot path: the CPU time that it adds to `JSON.parse`, as a share of the CPU time
 * that the service spends on a whole GET of an unchanged user group. The contract allows 5 %.
 * @type {import('../run.js').Case}
 */
export async function strictJson() {
  const rows = []
  for (const size of /** @type {import('../lib/bodies.js').BodySize[]} */ (Object.keys(bodySizes))) {
    rows.push({ name: bodySizes[size], figures: summaries(await measure(size)) })
  }
  return { title: 'What strict JSON reading adds to a GET of an unchanged user group', rows }
}

/** @param {import('../lib/bodies.js').BodySize} size */
async function measure(size) {
  const service = await startService()
  const reader = fork(script)
  try {
    await createGroups(service, size)
    const load = () =>
      loadRound(service, { kind: 'unchanged', size, seconds: 2, expected: '"new_user_group":false' })
    /** @returns {Promise<import('../processes/json-reading.js').ReadingCosts>} */
    const read = () =>
      new Promise((resolve, reject) => {
        reader.once('message', (costs) =>
          resolve(/** @type {import('../processes/json-reading.js').ReadingCosts} */ (costs)),
        )
        // Does nothing where the costs have come.
        reader.once('exit', (code) => reject(new Error(`the reader ended with ${code}`)))
        reader.send(size)
      })
    const results = []
    for (let round = 0; round <= rounds; round++) {
      const { cpuMicroseconds } = await load()
      const { strict, plain } = await read()
      const added = strict - plain
      const figures = {
        'JSON.parse, µs': plain,
        'strict, µs': strict,
        'added, µs': added,
        'whole GET, µs': cpuMicroseconds,
        'added, %': (added / cpuMicroseconds) * 100,
      }
      // The first warms up.
      if (round > 0) results.push(figures)
    }
    return results
  } finally {
    reader.disconnect()
    await service.stop()
  }
}
