// Holds the OpenAPI document to Redocly's recommended rules; a warning fails too.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApiDocument } from '../server/dist/contract/openapi/openapi.js'

/**
 * @typedef {{
 *   totals: { errors: number, warnings: number },
 *   problems: { ruleId: string, severity: string, message: string, location: { pointer: string }[] }[]
 * }} Report
 */

const folder = mkdtempSync(join(tmpdir(), 'ugs-openapi-'))
try {
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(openApiDocument('0.0.0'), null, 2))
  const { status, stdout, stderr } = spawnSync(
    'npx',
    ['--no-install', 'redocly', 'lint', '--extends', 'recommended', '--format', 'json', file],
    {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  const { totals, problems } = /** @type {Report} */ (JSON.parse(stdout))
  for (const { ruleId, severity, message, location } of problems) {
    console.error(`${severity} ${ruleId}: ${message} (${location[0]?.pointer})`)
  }
  if (status !== 0 || totals.errors + totals.warnings > 0) {
    console.error(stderr)
    process.exitCode = 1
  } else {
    console.log('The OpenAPI document passes the recommended rules.')
  }
} finally {
  rmSync(folder, { recursive: true })
}
