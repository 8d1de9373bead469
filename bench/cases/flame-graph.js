import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodySizes } from '../lib/bodies.js'
import { callsOf } from '../lib/cpu-profile.js'
import { flameGraph } from '../lib/flame-graph.js'
import { manyKnownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { imageFolder } from '../lib/pictures.js'
import { seedUserGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
/** Maximum duration of reading each user group once, in seconds. */
const longest = 600

/**
 * Draws a flame graph of the CPU time of an unchanged GET for the documentation, from V8's profiler.
 * @type {import('../run.js').Case}
 */
export async function drawFlameGraph() {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const service = await startService(undefined, [], ['--cpu-prof', `--cpu-prof-dir=${folder}`])
  try {
    await seedUserGroups(service.file, manyKnownIds)
    const load = { size, ids: manyKnownIds, expected: '"new_user_group":false' }
    // Fills the response cache, which keeps a response from its second request on.
    for (let i = 0; i < 2; i++) await loadRound(service, { ...load, order: 'once', seconds: longest })
    const from = microseconds()
    await loadRound(service, { ...load, order: 'random', seconds: 10 })
    const to = microseconds()
    await service.stop()
    const [file = ''] = readdirSync(folder)
    /** @type {import('../lib/cpu-profile.js').CpuProfile} */
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const { root, own } = callsOf(profile, from, to)
    const title = `CPU time of GET, unchanged, SQLite, ${connections} connections (body of ${bodySizes[size]})`
    mkdirSync(imageFolder, { recursive: true })
    writeFileSync(new URL('flame-graph.svg', imageFolder), flameGraph(title, root))
    return {
      title,
      rows: [...own]
        .sort(([, a], [, b]) => b - a)
        .map(([name, samples]) => ({
          name,
          figures: summaries([{ 'own, %': (samples / root.samples) * 100 }]),
        })),
    }
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true })
  }
}

function microseconds() {
  return Number(process.hrtime.bigint() / 1000n)
}
