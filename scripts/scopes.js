// Writes the matrix of operations and scopes into docs/scopes.md, and the scopes of operations for the console, from the built server.
// With --check it writes nothing and fails if one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { scopes } from '../server/dist/domain/api-token/api-token.js'
import { adminOperations } from '../server/dist/http/admin/operations.js'
import { openApiDocument } from '../server/dist/http/docs/openapi-document.js'
import { scopesFor } from '../server/dist/http/operations.js'

/**
 * @typedef {{ summary: string, 'x-scopes'?: readonly string[] }} Operation
 * @typedef {{ paths: Record<string, Record<string, Operation>> }} Document
 */

const { paths } = /** @type {Document} */ (openApiDocument('0.0.0'))
/** @type {[route: string, operation: Operation][]} */
const operations = [
  ...Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        /** @type {[string, Operation]} */ ([`${method.toUpperCase()} ${path}`, operation]),
    ),
  ),
  ['GET /forward-auth', { summary: 'Check a viewer for a gateway', 'x-scopes': scopesFor('forwardAuth') }],
]

const marker = '<!-- From here on, `npm run scopes` writes this page. -->'
const docs = 'docs/scopes.md'
const page = readFileSync(fileOf(docs), 'utf8')
const intro = page.slice(0, page.indexOf(marker) + marker.length)
const rows = operations.flatMap(([route, { summary, 'x-scopes': permitting }]) =>
  permitting === undefined
    ? []
    : [
        `| \`${route}\` | ${summary} |${scopes.map((scope) => (permitting.includes(scope) ? ' yes |' : ' |')).join('')}`,
      ],
)
const table = [
  `| operation | | ${scopes.map((scope) => `\`${scope}\``).join(' | ')} |`,
  `|---|---|${'---|'.repeat(scopes.length)}`,
  ...rows,
]
await write(docs, `${intro}\n\n${table.join('\n')}\n`)

const restricted = Object.entries(adminOperations).filter(([, { scope }]) => scope !== 'observe')
await write(
  'console/src/session/operation-scopes.ts',
  `// Written by \`npm run scopes\`.

/** Operations of the management API that need more than \`observe\`, each with the weakest scope that permits it. */
export const operationScopes = {
${restricted.map(([id, { scope }]) => `  ${id}: '${scope}',`).join('\n')}
} as const
`,
)

/** @param {string} path */
function fileOf(path) {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

/**
 * Writes a file, formatted, or checks it.
 * @param {string} path
 * @param {string} content
 */
async function write(path, content) {
  const file = fileOf(path)
  const updated = await format(content, { ...(await resolveConfig(file)), filepath: file })
  if (!process.argv.includes('--check')) writeFileSync(file, updated)
  else if (updated !== readFileSync(file, 'utf8')) {
    console.error(`${path} is out of date. Run \`npm run scopes\`.`)
    process.exitCode = 1
  }
}
