import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cpuTimeOfEnded } from '../lib/cpu.js'
import { startDatabase } from '../lib/postgres.js'
import { summaries } from '../lib/statistics.js'

const rounds = 3
const templates = 500
const customers = ['customer-1', 'customer-2', 'customer-3']
const command = fileURLToPath(new URL('../../isolation/bin/ugs-isolation.js', import.meta.url))

/**
 * Measures the CPU time of `ugs-isolation probe` without the database's, for templates over 30,000 rows.
 * @type {import('../run.js').Case}
 */
export async function isolation() {
  const database = await startDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'bench-isolation-'))
  try {
    await database.client.query(`
      CREATE TABLE sales AS
      SELECT i AS id, 'customer-' || i % 30 AS customer, i % 12 + 1 AS month, (i * 37 % 1000) / 4.0 AS amount
      FROM generate_series(1, 30000) AS i;
      CREATE INDEX ON sales (customer)`)
    writeFileSync(join(folder, 'isolation.json'), JSON.stringify(config))
    writeFileSync(
      join(folder, 'templates.mjs'),
      `const own = 'customer = {{ user_group.provided_id }}'
export default Array.from({ length: ${templates} }, (_, i) => ({
  name: i,
  sql: \`SELECT month, sum(amount) FROM sales WHERE \${own} AND id > \${i} GROUP BY month ORDER BY month\`,
}))`,
    )
    const results = []
    for (let round = 0; round < rounds; round++) {
      const before = cpuTimeOfEnded(process.pid)
      const output = execFileSync(
        process.execPath,
        [command, 'probe', '--allow-write-role', '--format', 'json'],
        {
          cwd: folder,
          encoding: 'utf8',
          env: { ...process.env, DATABASE_URL: database.url },
        },
      )
      const { summary } = /** @type {{ summary: { ok: number } }} */ (JSON.parse(output))
      if (summary.ok !== templates) throw new Error(`only ${summary.ok} templates were judged isolated`)
      results.push({ 'CPU, s': (cpuTimeOfEnded(process.pid) - before) / 1e6 })
    }
    return {
      title: `Probe of ${templates} templates for ${customers.length} customers and a stranger`,
      rows: [{ name: 'probe', figures: summaries(results) }],
    }
  } finally {
    rmSync(folder, { recursive: true })
    await database.stop()
  }
}

const config = {
  tables: { sales: 'customer' },
  templates: 'templates.mjs',
  user_groups: customers.map((provided_id) => ({ provided_id })),
}
