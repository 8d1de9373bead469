// Checks the OpenAPI document against Redocly's recommended rules. Warnings fail, too.
import { openApiDocument } from '../server/dist/http/docs/openapi-document.js'
import { requirePackage } from './install-packages.js'

/**
 * @typedef {{
 *   createConfig: (config: { extends: string[], rules: Record<string, string> }) => Promise<object>,
 *   lintFromString: (options: { source: string, absoluteRef: string, config: object }) => Promise<Problem[]>,
 * }} Redocly
 * @typedef {{ ruleId: string, severity: string, message: string, location: { pointer?: string }[] }} Problem
 */

const { createConfig, lintFromString } = /** @type {Redocly} */ (
  requirePackage('tools/checks', '@redocly/openapi-core')
)

const problems = await lintFromString({
  source: JSON.stringify(openApiDocument('0.0.0')),
  absoluteRef: 'openapi.json',
  // No operation refers to the schema of a line: the body is one text.
  config: await createConfig({ extends: ['recommended'], rules: { 'no-unused-components': 'off' } }),
})
for (const { ruleId, severity, message, location } of problems)
  console.error(`${severity} ${ruleId}: ${message} (${location[0]?.pointer})`)
if (problems.length > 0) process.exitCode = 1
else console.log('The OpenAPI document passes the recommended rules.')
