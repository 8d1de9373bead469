import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bodySizes } from '../lib/bodies.js'
import { freshIds } from '../lib/ids.js'
import { loadRound } from '../lib/load.js'
import { startService } from '../lib/service.js'
import { quantile, summaries } from '../lib/statistics.js'

const timedCommits = fileURLToPath(new URL('../processes/timed-commits.js', import.meta.url))
const connections = 128
const seconds = 60
const rounds = 2
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/**
 * Measures response times while checkpoints run: in the thread, and in the commits themselves.
 * @type {import('../run.js').Case}
 */
export async function checkpoints() {
  /** @type {Record<string, Record<string, number>[]>} */
  const results = { thread: [], commit: [] }
  for (let i = 0; i < rounds; i++) {
    for (const where of i % 2 === 0 ? ['thread', 'commit'] : ['commit', 'thread'])
      results[where]?.push(await round(where))
  }
  return {
    title: `GET that creates a user group (body of ${bodySizes[size]}), ${connections} connections, ${seconds} s`,
    rows: Object.entries(results).map(([where, figures]) => ({
      name: `checkpoints in the ${where}`,
      figures: summaries(figures),
    })),
    notes: [`Load average at the end: ${loadavg()[0]?.toFixed(1)}.`],
  }
}

/** @param {string} where */
async function round(where) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const commitsFile = join(folder, 'commits')
  const service = await startService(undefined, [], ['--import', timedCommits], {
    UGS_DATA_DIR: folder,
    BENCH_CHECKPOINTS: where,
    BENCH_COMMITS_FILE: commitsFile,
  })
  let longestLog = 0
  const watching = setInterval(() => {
    longestLog = Math.max(longestLog, statSync(join(folder, 'ugs.db-wal')).size)
  }, 100)
  try {
    const { requestsPerSecond, p50Ms, p99Ms } = await loadRound(service, {
      ...{ size, ids: freshIds(), order: /** @type {const} */ ('once'), seconds, connections },
      expected: '"new_user_group":true',
    })
    clearInterval(watching)
    await service.stop()
    /** @type {number[]} */
    const commits = JSON.parse(readFileSync(commitsFile, 'utf8'))
    return {
      'requests/s': requestsPerSecond,
      'p50, ms': p50Ms,
      'p99, ms': p99Ms,
      'p50 of commits, ms': quantile(commits, 0.5),
      'p99 of commits, ms': quantile(commits, 0.99),
      'longest commit, ms': quantile(commits, 1),
      'longest log, MB': longestLog / 1e6,
      'database, MB': statSync(join(folder, 'ugs.db')).size / 1e6,
    }
  } finally {
    clearInterval(watching)
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
